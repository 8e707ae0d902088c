#if GTK
import CGTK
import Eidetic
import EideticCore
import EideticGTK

extension Scenes {
    /// The ways in which a widget dies during a load.
    private enum Death: CaseIterable {
        case removed, removedWhileHeld, windowDestroyed, disposedWhileHeld, replacedByCompletion
    }

    /// Destroys widgets in every order: their loads end as cancelled, and nothing remains of the widgets.
    static func deaths(_ stage: Stage) async throws {
        let slow = try stage.serveSlow()
        await stage.present()
        for death in Death.allCases {
            for isSized in [true, false] { await destroyWidget(on: stage, death: death, url: slow, isSized: isSized) }
        }
    }

    private static func destroyWidget(on stage: Stage, death: Death, url: String, isSized: Bool) async {
        var results: [String] = []
        var secondResult: Result<ImageResponse, EideticError>?
        // A GtkPicture of GTK 4.8 does not survive a second dispose.
        let widget = Widget(death == .disposedWhileHeld ? gtk_image_new() : gtk_picture_new())
        let window = death == .windowDestroyed ? widget.presentInOwnWindow() : nil
        if window == nil { stage.add(widget.pointer) }
        let view = ImageWidget(widget.pointer, pipeline: stage.pipeline)
        let presentation = ImageSlot.Presentation(indicator: .spinner, transition: .crossFade())
        view.setImage(
            ImageRequest(url, size: isSized ? PixelSize(width: 50, height: 50) : nil),
            presentation: presentation
        ) {
            if case .failure(let error) = $0 { results.append("\(error.code)") } else { results.append("shown") }
            if death == .replacedByCompletion { view.setImage(ImageRequest(url)) { secondResult = $0 } }
        }
        await stage.waitForFrames(3)
        stage.expect(results.isEmpty, otherwise: "\(death): ended too early: \(results)")
        switch death {
        case .removed, .replacedByCompletion: stage.remove(widget.pointer)
        case .removedWhileHeld:
            g_object_ref(widget.raw)
            stage.remove(widget.pointer)
            stage.expect(
                results.isEmpty,
                otherwise: "a removed widget that is still referenced must go on loading: \(results)"
            )
            g_object_unref(widget.raw)
        case .windowDestroyed: if let window { gtk_window_destroy(window) }
        case .disposedWhileHeld:
            g_object_ref(widget.raw)
            stage.remove(widget.pointer)
            g_object_run_dispose(widget.object)
            stage.expect(results, is: ["cancelled"], "\(death)")
            view.setImage(ImageRequest(url)) { secondResult = $0 }
            g_object_unref(widget.raw)
        }
        stage.expect(results, is: ["cancelled"], "\(death), sized \(isSized)")
        if death == .replacedByCompletion || death == .disposedWhileHeld {
            guard case .failure(let error)? = secondResult, error.code == .cancelled else {
                return stage.expect(false, otherwise: "a dead widget accepted an image: \(secondResult == nil)")
            }
        }
        await stage.waitForFrames(2)
        stage.expect(widget.isReleased, otherwise: "\(death), sized \(isSized): the widget is leaked")
    }

    /// Destroys widgets during their own completion and during a transition.
    static func deathsWithin(_ stage: Stage) async throws {
        let url = try stage.serve("red.png", colour: .red)
        await stage.present()
        let widget = Widget(gtk_picture_new())
        stage.add(widget.pointer)
        var completionCount = 0
        // During its own completion.
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            ImageWidget(widget.pointer, pipeline: stage.pipeline).setImage(ImageRequest(url)) { _ in
                completionCount += 1
                stage.remove(widget.pointer)
                continuation.resume()
            }
        }
        // In the middle of a transition, for which the completion waits.
        let fadingWidget = Widget(gtk_picture_new())
        stage.add(fadingWidget.pointer)
        var didFade: Bool?
        let presentation = ImageSlot.Presentation(
            transition: .crossFade(.seconds(60)),
            transitionsFromMemory: true,
            completesAfterTransition: true
        )
        let size = PixelSize(width: 40, height: 40)
        ImageWidget(fadingWidget.pointer, pipeline: stage.pipeline)
            .setImage(ImageRequest(url, size: size), presentation: presentation) {
                didFade = (try? $0.get()) != nil
            }
        await stage.wait(for: "the start of the transition") { fadingWidget.showsImage }
        await stage.waitForFrames(3)
        stage.expect(didFade, is: nil, "the completion did not wait")
        stage.remove(fadingWidget.pointer)
        stage.expect(didFade, is: true, "the transition's completion was lost")
        await stage.waitForFrames(2)
        stage.expect(
            completionCount == 1 && widget.isReleased && fadingWidget.isReleased,
            otherwise: "\(completionCount) \(widget.isReleased) \(fadingWidget.isReleased)"
        )
    }

    /// Destroys a thousand widgets: their slots and textures are released with them.
    static func leaks(_ stage: Stage) async throws {
        let request = try stage.request(for: try stage.serve("red.png", colour: .red))
        _ = try await stage.pipeline.image(for: request)
        await stage.present()
        var widgets: [Widget] = []
        for _ in 0..<1_000 {
            let widget = Widget(gtk_picture_new())
            stage.add(widget.pointer, width: 1, height: 1)
            ImageWidget(widget.pointer, pipeline: stage.pipeline)
                .setImage(request, presentation: .init(indicator: .spinner, transition: .crossFade()))
            widgets.append(widget)
        }
        await stage.waitForFrames(2)
        let paintable = widgets[0].paintable
        for widget in widgets { stage.remove(widget.pointer) }
        await stage.waitForFrames(2)
        stage.expect(
            widgets.allSatisfy(\.isReleased),
            otherwise: "\(widgets.count { !$0.isReleased }) widgets are leaked"
        )
        stage.expect(paintable?.isReleased, is: true, "the paintable is leaked")
    }
}

/// A weak reference to a widget of a scene.
@MainActor
final class Widget {
    let pointer: UnsafeMutablePointer<GtkWidget>
    private let reference = UnsafeMutablePointer<GWeakRef>.allocate(capacity: 1)

    init(_ widget: UnsafeMutablePointer<GtkWidget>?) {
        guard let widget else { preconditionFailure("GTK cannot create the widget") }
        pointer = widget
        g_weak_ref_init(reference, widget)
    }

    isolated deinit {
        g_weak_ref_clear(reference)
        reference.deallocate()
    }

    var raw: UnsafeMutableRawPointer { UnsafeMutableRawPointer(pointer) }
    var object: UnsafeMutablePointer<GObject> { raw.assumingMemoryBound(to: GObject.self) }

    var isReleased: Bool {
        guard let strong = g_weak_ref_get(reference) else { return true }
        g_object_unref(strong)
        return false
    }

    /// A weak reference to the paintable of a `GtkPicture`.
    var paintable: WeakReference? {
        gtk_picture_get_paintable(OpaquePointer(pointer)).map { WeakReference(UnsafeMutableRawPointer($0)) }
    }

    /// A Boolean value indicating whether a `GtkPicture` shows an image.
    var showsImage: Bool {
        guard let paintable = gtk_picture_get_paintable(OpaquePointer(pointer)) else { return false }
        return eidetic_paintable_image(UnsafeMutableRawPointer(paintable)) != nil
    }

    /// Shows the widget in a window of its own, and returns the window.
    func presentInOwnWindow() -> UnsafeMutablePointer<GtkWindow>? {
        guard let window = gtk_window_new() else { return nil }
        let top = UnsafeMutableRawPointer(window).assumingMemoryBound(to: GtkWindow.self)
        gtk_window_set_default_size(top, 300, 200)
        gtk_window_set_decorated(top, 0)
        gtk_window_set_child(top, pointer)
        gtk_window_present(top)
        return top
    }
}

/// A weak reference to a GObject.
@MainActor
final class WeakReference {
    private let reference = UnsafeMutablePointer<GWeakRef>.allocate(capacity: 1)

    init(_ object: UnsafeMutableRawPointer) { g_weak_ref_init(reference, object) }

    isolated deinit {
        g_weak_ref_clear(reference)
        reference.deallocate()
    }

    var isReleased: Bool {
        guard let strong = g_weak_ref_get(reference) else { return true }
        g_object_unref(strong)
        return false
    }
}
#endif
