#if GTK
import CGTK
import Eidetic
import EideticBackground
import EideticBackgroundGTK
import EideticCore
import EideticGTK
import EideticTestSupport

extension Scenes {
    /// Shows placeholders, failure images and kept images, as the options and the presentation require.
    static func options(_ stage: Stage) async throws {
        let widget = stage.add(gtk_picture_new())
        await stage.present()
        let view = ImageWidget(widget, pipeline: stage.pipeline)
        let red = try stage.serve("red.png", colour: .red)
        let slow = try stage.serveSlow()
        let placeholder = try Image.plain(.blue)
        let failure = try Image.plain(.yellow)
        func shownColour() async throws -> Colour {
            await stage.waitForFrames(2)
            return try await stage.screenshot()[50, 50]
        }
        view.setImage(ImageRequest(slow), presentation: .init(placeholder: placeholder))
        stage.expect(try await shownColour(), looksLike: .blue, "the placeholder")
        try await view.show(ImageRequest(red))
        view.setImage(ImageRequest(slow), presentation: .init(placeholder: placeholder, keepsCurrentImage: true))
        stage.expect(try await shownColour(), looksLike: .red, "the current image")
        view.setImage(ImageRequest(slow), presentation: .init(placeholder: placeholder, delaysPlaceholder: true))
        stage.expect(try await shownColour(), looksLike: .red, "a delayed placeholder, while it loads")
        let missing = stage.missingURL
        _ = try? await view.show(
            ImageRequest(missing),
            presentation: .init(placeholder: placeholder, delaysPlaceholder: true)
        )
        stage.expect(try await shownColour(), looksLike: .blue, "a delayed placeholder, after it failed")
        _ = try? await view.show(ImageRequest(missing), presentation: .init(failureImage: failure))
        stage.expect(try await shownColour(), looksLike: .yellow, "the failure image")
        let response = try await view.show(
            ImageRequest(red),
            presentation: .init(keepsCurrentImage: true, setsImage: false)
        )
        stage.expect(
            try await shownColour().looks(like: .yellow) && response.image.size.width == 64,
            otherwise: "the image was set"
        )
        view.setImage(nil, presentation: .placeholder(placeholder))
        stage.expect(try await shownColour(), looksLike: .blue, "no URL: the placeholder")
        do throws(EideticError) {
            try await view.show("no url", presentation: .init(failureImage: failure))
            stage.expect(false, otherwise: "an invalid URL was accepted")
        } catch {
            stage.expect(error.code, is: .invalidURL, "\(error)")
        }
        stage.expect(try await shownColour(), looksLike: .yellow, "the failure image for an invalid URL")
        let task = Task { try await view.show(ImageRequest(slow)) }
        await stage.waitForFrames(3)
        task.cancel()
        let result = await task.result
        stage.expect(isFailure(result, code: .cancelled), otherwise: "a cancelled task: \(result)")
    }

    private static func isFailure(_ result: Result<ImageResponse, any Error>, code: EideticError.Code) -> Bool {
        if case .failure(let error as EideticError) = result { return error.code == code }
        return false
    }

    /// Starts from the image in another size in memory, also while the widget waits for its own size.
    static func preview(_ stage: Stage) async throws {
        let small = stage.add(gtk_picture_new(), width: 40, height: 40),
            large = stage.add(gtk_picture_new(), width: 200, height: 200)
        await stage.present()
        let url = try stage.serve("red.png", colour: .red, width: 400, height: 400)
        try await ImageWidget(small, pipeline: stage.pipeline).show(ImageRequest(url))
        let presentation = ImageSlot.Presentation(placeholder: try .plain(.blue), usesCachedPreview: true)
        func width(of widget: UnsafeMutablePointer<GtkWidget>) -> Int32 {
            gdk_paintable_get_intrinsic_width(gtk_picture_get_paintable(OpaquePointer(widget)))
        }
        ImageWidget(large, pipeline: stage.pipeline).setImage(ImageRequest(url), presentation: presentation)
        stage.expect(width(of: large), is: 40, "the small image is not shown first")
        await stage.wait(for: "the large image") { width(of: large) == 200 }
        let unsized = Widget(gtk_picture_new())
        ImageWidget(unsized.pointer, pipeline: stage.pipeline).setImage(ImageRequest(url), presentation: presentation)
        stage.expect(
            width(of: unsized.pointer) >= 40 && width(of: unsized.pointer) <= 200,
            otherwise: "no preview while the widget waits for its size"
        )
        g_object_ref_sink(unsized.raw)
        g_object_unref(unsized.raw)
    }

    /// Draws nothing while the window is minimised, and the last state once when it is restored.
    static func background(_ stage: Stage) async throws {
        try Application.shared.start()
        Application.shared.followWindows()
        let widget = stage.add(gtk_picture_new())
        let title = TitleDisplay(stage: stage)
        let slot = ImageSlot(display: title, pipeline: stage.pipeline)
        let view = ImageWidget(widget, pipeline: stage.pipeline)
        await stage.present()
        try await view.show(ImageRequest(try stage.serve("red.png", colour: .red)))
        let window = UnsafeMutableRawPointer(stage.window).assumingMemoryBound(to: GtkWindow.self)
        gtk_window_minimize(window)
        try await waitForState(.background, isHeld: true)
        for (name, colour) in [("green.png", Colour.green), ("blue.png", .blue)] {
            let url = try stage.serve(name, colour: colour)
            try await view.show(ImageRequest(url))
            let request = ImageRequest(url)
            _ = await withCheckedContinuation { body in slot.load(request) { body.resume(returning: $0) } }
        }
        stage.expect(title.drawCount, is: 0, "draws in the background")
        gtk_window_present(window)
        try await waitForState(.active, isHeld: false)
        await stage.waitForFrames(2)
        stage.expect(try await stage.screenshot()[50, 50], looksLike: .blue, "not the last state")
        stage.expect(title.drawCount, is: 1, "draws on return")
    }

    /// Minimises a window before it is followed: the application is in the background, until the window is presented.
    static func minimized(_ stage: Stage) async throws {
        await stage.present()
        let window = UnsafeMutableRawPointer(stage.window).assumingMemoryBound(to: GtkWindow.self)
        gtk_window_minimize(window)
        try await eventually("a minimised window") { eidetic_window_is_visible(window) == 0 }
        try Application.shared.start()
        Application.shared.followWindows()
        try await waitForState(.background, isHeld: true)
        gtk_window_present(window)
        try await waitForState(.active, isHeld: false)
    }

    /// Waits until the application has a state, and the gate of all slots has followed.
    private static func waitForState(_ state: ApplicationState, isHeld: Bool) async throws {
        for await reached in Application.shared.states where reached == state { break }
        try await eventually("state of the gate of all slots", is: isHeld) { DisplayGate.shared.isHeld }
    }

    /// Shows an image through a slot in a display that is not a GTK widget.
    static func ownDisplay(_ stage: Stage) async throws {
        let title = TitleDisplay(stage: stage)
        let slot = ImageSlot(display: title, pipeline: stage.pipeline)
        await stage.present()
        let request = ImageRequest(try stage.serve("red.png", colour: .red))
        _ = await withCheckedContinuation { continuation in slot.load(request) { continuation.resume(returning: $0) } }
        stage.expect(title.shownSize, is: "64x64")
    }
}

/// A display that stores the size of its image.
@MainActor
private final class TitleDisplay: ImageDisplay {
    private let stage: Stage
    private(set) var shownSize = ""
    private(set) var drawCount = 0

    init(stage: Stage) { self.stage = stage }

    func display(_ image: Image?, transition: ImageTransition?, completion: @escaping @MainActor () -> Void) {
        drawCount += 1
        shownSize = image.map { "\($0.size)" } ?? ""
        completion()
    }
}
#endif
