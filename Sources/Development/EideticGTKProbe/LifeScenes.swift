#if GTK
import CGTK
import Eidetic
import EideticCore
import EideticGTK

extension Scenes {
    /// The ways in which a widget goes while something is going on for it.
    private enum Death: CaseIterable {
        case removed, removedWhileHeld, windowDestroyed, disposedWhileHeld, replacedByCompletion
    }

    /// Loads end as cancelled when their widget dies, in every order, and nothing is left of the widget.
    static func deaths(_ stage: Stage) async throws {
        let slow = try stage.putSlow()
        await stage.present()
        for death in Death.allCases {
            for isSized in [true, false] { await die(stage, death, slow, isSized: isSized) }
        }
    }

    private static func die(_ stage: Stage, _ death: Death, _ url: String, isSized: Bool) async {
        var results: [String] = []
        var again: Result<ImageResponse, EideticError>?
        // Disposed twice, which a GtkPicture of GTK 4.8 does not survive by itself.
        let picture = Widget(death == .disposedWhileHeld ? gtk_image_new() : gtk_picture_new())
        let window = death == .windowDestroyed ? picture.inWindowOfItsOwn() : nil
        if window == nil { stage.add(picture.pointer) }
        let view = ImageWidget(picture.pointer, pipeline: stage.pipeline)
        let presentation = ImageSlot.Presentation(indicator: .spinner, transition: .crossFade())
        view.setImage(url, size: isSized ? PixelSize(width: 50, height: 50) : nil, presentation: presentation) {
            if case .failure(let error) = $0 { results.append("\(error.code)") } else { results.append("shown") }
            if death == .replacedByCompletion { view.setImage(url) { again = $0 } }
        }
        await stage.frames(3)
        stage.expect(results.isEmpty, "\(death): ended before: \(results)")
        switch death {
        case .removed, .replacedByCompletion: stage.remove(picture.pointer)
        case .removedWhileHeld:
            g_object_ref(picture.raw)
            stage.remove(picture.pointer)
            stage.expect(results.isEmpty, "a widget that is only taken away goes on: \(results)")
            g_object_unref(picture.raw)
        case .windowDestroyed: if let window { gtk_window_destroy(window) }
        case .disposedWhileHeld:
            g_object_ref(picture.raw)
            stage.remove(picture.pointer)
            g_object_run_dispose(picture.object)
            stage.expect(results == ["cancelled"], "\(death): \(results)")
            view.setImage(url) { again = $0 }
            g_object_unref(picture.raw)
        }
        stage.expect(results == ["cancelled"], "\(death), sized \(isSized): \(results)")
        if death == .replacedByCompletion || death == .disposedWhileHeld {
            guard case .failure(let error)? = again, error.code == .cancelled else {
                return stage.expect(false, "a dead widget took a picture: \(again == nil)")
            }
        }
        await stage.frames(2)
        stage.expect(picture.isGone, "\(death), sized \(isSized): something holds the widget")
    }

    /// A view whose widget goes while its completion, transition or animation runs.
    static func deathsWithin(_ stage: Stage) async throws {
        let url = try stage.put("red.png", .red)
        await stage.present()
        let picture = Widget(gtk_picture_new())
        stage.add(picture.pointer)
        var ends = 0
        // Within its own completion.
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            ImageWidget(picture.pointer, pipeline: stage.pipeline).setImage(url) { _ in
                ends += 1
                stage.remove(picture.pointer)
                continuation.resume()
            }
        }
        // In the middle of a transition that the completion waits for.
        let fading = Widget(gtk_picture_new())
        stage.add(fading.pointer)
        var faded: Bool?
        let options: ImageOptions = [.forceTransition, .waitTransition]
        let presentation = ImageSlot.Presentation(transition: .crossFade(.seconds(60)))
        let size = PixelSize(width: 40, height: 40)
        ImageWidget(fading.pointer, pipeline: stage.pipeline)
            .setImage(url, options: options, size: size, presentation: presentation) { faded = (try? $0.get()) != nil }
        await stage.until("the transition begins") { fading.shows }
        await stage.frames(3)
        stage.expect(faded == nil, "the completion did not wait")
        stage.remove(fading.pointer)
        stage.expect(faded == true, "the transition's completion was lost")
        await stage.frames(2)
        stage.expect(ends == 1 && picture.isGone && fading.isGone, "\(ends) \(picture.isGone) \(fading.isGone)")
    }

    /// Widgets, slots and textures: what is made for ten thousand widgets is gone with them.
    static func leaks(_ stage: Stage) async throws {
        let request = try stage.request(try stage.put("red.png", .red))
        _ = try await stage.pipeline.image(for: request)
        await stage.present()
        var widgets: [Widget] = []
        for _ in 0..<1_000 {
            let widget = Widget(gtk_picture_new())
            stage.add(widget.pointer, 1, 1)
            ImageWidget(widget.pointer, pipeline: stage.pipeline)
                .setImage(request, presentation: .init(indicator: .spinner, transition: .crossFade()))
            widgets.append(widget)
        }
        await stage.frames(2)
        let paintable = widgets[0].paintable
        for widget in widgets { stage.remove(widget.pointer) }
        await stage.frames(2)
        stage.expect(widgets.allSatisfy(\.isGone), "\(widgets.count { !$0.isGone }) widgets are left")
        stage.expect(paintable?.isGone == true, "what was drawn is left")
    }
}

/// A widget that a scene looks at without keeping it.
@MainActor
final class Widget {
    let pointer: UnsafeMutablePointer<GtkWidget>
    private let cell = UnsafeMutablePointer<GWeakRef>.allocate(capacity: 1)

    init(_ made: UnsafeMutablePointer<GtkWidget>?) {
        guard let made else { preconditionFailure("GTK makes widgets") }
        pointer = made
        g_weak_ref_init(cell, made)
    }

    isolated deinit {
        g_weak_ref_clear(cell)
        cell.deallocate()
    }

    var raw: UnsafeMutableRawPointer { UnsafeMutableRawPointer(pointer) }
    var object: UnsafeMutablePointer<GObject> { raw.assumingMemoryBound(to: GObject.self) }

    var isGone: Bool {
        guard let strong = g_weak_ref_get(cell) else { return true }
        g_object_unref(strong)
        return false
    }

    /// What a picture draws.
    var paintable: Watched? {
        gtk_picture_get_paintable(OpaquePointer(pointer)).map { Watched(UnsafeMutableRawPointer($0)) }
    }

    /// Whether a picture shows something.
    var shows: Bool {
        guard let paintable = gtk_picture_get_paintable(OpaquePointer(pointer)) else { return false }
        return eidetic_paintable_picture(UnsafeMutableRawPointer(paintable)) != nil
    }

    /// Puts it into a window that is shown; gives the window.
    func inWindowOfItsOwn() -> UnsafeMutablePointer<GtkWindow>? {
        guard let window = gtk_window_new() else { return nil }
        let top = UnsafeMutableRawPointer(window).assumingMemoryBound(to: GtkWindow.self)
        gtk_window_set_default_size(top, 300, 200)
        gtk_window_set_decorated(top, 0)
        gtk_window_set_child(top, pointer)
        gtk_window_present(top)
        return top
    }
}

/// An object that is watched until it is gone.
@MainActor
final class Watched {
    private let cell = UnsafeMutablePointer<GWeakRef>.allocate(capacity: 1)

    init(_ object: UnsafeMutableRawPointer) { g_weak_ref_init(cell, object) }

    isolated deinit {
        g_weak_ref_clear(cell)
        cell.deallocate()
    }

    var isGone: Bool {
        guard let strong = g_weak_ref_get(cell) else { return true }
        g_object_unref(strong)
        return false
    }
}
#endif
