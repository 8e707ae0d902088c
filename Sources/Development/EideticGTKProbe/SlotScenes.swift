#if GTK
import CGTK
import Eidetic
import EideticCore
import EideticGTK

extension Scenes {
    /// What is seen until the picture is there, as options and presentation say.
    static func options(_ stage: Stage) async throws {
        let widget = stage.add(gtk_picture_new())
        await stage.present()
        let view = ImageWidget(widget, pipeline: stage.pipeline)
        let red = try stage.put("red.png", .red), slow = try stage.putSlow()
        let placeholder = try Image.plain(.blue), failure = try Image.plain(.yellow)
        func seen() async throws -> Colour {
            await stage.frames(2)
            return try await stage.screenshot()[50, 50]
        }
        view.setImage(slow, placeholder: placeholder)
        stage.expect(try await seen().looks(like: .blue), "the placeholder")
        try await view.show(red)
        view.setImage(slow, placeholder: placeholder, options: .keepCurrentImage)
        stage.expect(try await seen().looks(like: .red), "keepCurrentImage")
        view.setImage(slow, placeholder: placeholder, options: .delayPlaceholder)
        stage.expect(try await seen().looks(like: .red), "delayPlaceholder, while it loads")
        let missing = stage.missing
        _ = try? await view.show(missing, placeholder: placeholder, options: .delayPlaceholder)
        stage.expect(try await seen().looks(like: .blue), "delayPlaceholder, after it failed")
        _ = try? await view.show(missing, presentation: .init(failureImage: failure))
        stage.expect(try await seen().looks(like: .yellow), "the failure's picture")
        let answer = try await view.show(red, options: [.avoidAutoSetImage, .keepCurrentImage])
        stage.expect(try await seen().looks(like: .yellow) && answer.image.size.width == 64, "avoidAutoSetImage")
        view.setImage(nil as String?, placeholder: placeholder)
        stage.expect(try await seen().looks(like: .blue), "no URL: the placeholder")
        do throws(EideticError) {
            try await view.show("no url", presentation: .init(failureImage: failure))
            stage.expect(false, "that is no URL")
        } catch {
            stage.expect(error.code == .invalidURL, "\(error)")
        }
        stage.expect(try await seen().looks(like: .yellow), "the failure's picture for what is no URL")
        let task = Task { try await view.show(slow) }
        await stage.frames(3)
        task.cancel()
        let result = await task.result
        stage.expect(isFailure(result, .cancelled), "a cancelled task: \(result)")
    }

    private static func isFailure(_ result: Result<ImageResponse, any Error>, _ code: EideticError.Code) -> Bool {
        if case .failure(let error as EideticError) = result { return error.code == code }
        return false
    }

    /// A view starts from the picture that is in memory in another size, also while it waits for its own size.
    static func preview(_ stage: Stage) async throws {
        let small = stage.add(gtk_picture_new(), 40, 40), large = stage.add(gtk_picture_new(), 200, 200)
        await stage.present()
        let url = try stage.put("red.png", .red, width: 400, height: 400)
        try await ImageWidget(small, pipeline: stage.pipeline).show(url)
        let presentation = ImageSlot.Presentation(placeholder: try .plain(.blue), startsFromCache: true)
        func width(_ widget: UnsafeMutablePointer<GtkWidget>) -> Int32 {
            gdk_paintable_get_intrinsic_width(gtk_picture_get_paintable(OpaquePointer(widget)))
        }
        ImageWidget(large, pipeline: stage.pipeline).setImage(url, presentation: presentation)
        stage.expect(width(large) == 40, "not from the small one: \(width(large))")
        await stage.until("the large one") { width(large) == 200 }
        let unsized = Widget(gtk_picture_new())
        ImageWidget(unsized.pointer, pipeline: stage.pipeline).setImage(url, presentation: presentation)
        stage.expect(width(unsized.pointer) >= 40 && width(unsized.pointer) <= 200, "while it waits for its size")
        g_object_ref_sink(unsized.raw)
        g_object_unref(unsized.raw)
    }

    /// In the background nothing is drawn; on return the last state is.
    static func background(_ stage: Stage) async throws {
        let widget = stage.add(gtk_picture_new())
        await stage.present()
        let view = ImageWidget(widget, pipeline: stage.pipeline)
        try await view.show(try stage.put("red.png", .red))
        DisplayGate.shared.hold()
        try await view.show(try stage.put("green.png", .green))
        try await view.show(try stage.put("blue.png", .blue))
        await stage.frames(2)
        stage.expect(try await stage.screenshot()[50, 50].looks(like: .red), "drawn in the background")
        DisplayGate.shared.release()
        await stage.frames(2)
        stage.expect(try await stage.screenshot()[50, 50].looks(like: .blue), "not the last state")
    }

    /// A thing that is no widget of GTK shows pictures through a slot and a display of its own.
    static func ownDisplay(_ stage: Stage) async throws {
        let title = TitleDisplay(stage)
        let slot = ImageSlot(display: title, pipeline: stage.pipeline)
        await stage.present()
        let request = try ImageRequest(try stage.put("red.png", .red))
        _ = await withCheckedContinuation { continuation in slot.load(request) { continuation.resume(returning: $0) } }
        stage.expect(title.shown == "64x64", "\(title.shown)")
    }
}

/// A window's title that tells the size of a picture.
@MainActor
private final class TitleDisplay: ImageDisplay {
    private let stage: Stage
    private(set) var shown = ""

    init(_ stage: Stage) { self.stage = stage }

    func display(_ image: Image?, transition: ImageTransition?, completion: @escaping @MainActor () -> Void) {
        shown = image.map { "\($0.size)" } ?? ""
        completion()
    }
}
#endif
