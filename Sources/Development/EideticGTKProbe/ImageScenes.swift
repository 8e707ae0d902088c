#if GTK
import CGTK
import Eidetic
import EideticCore
import EideticGTK
import Glibc

extension Scenes {
    /// Shows an image in a `GtkPicture` and a `GtkImage`, with one call each.
    static func images(_ stage: Stage) async throws {
        let widget = stage.add(gtk_picture_new())
        let imageWidget = stage.add(gtk_image_new())
        gtk_image_set_pixel_size(OpaquePointer(imageWidget), 100)
        let red = try stage.serve("red.png", colour: .red)
        let green = try stage.serve("green.png", colour: .green)
        await stage.present()
        let first = try await ImageWidget(widget, pipeline: stage.pipeline).show(ImageRequest(red))
        let second = try await ImageWidget(imageWidget, pipeline: stage.pipeline).show(ImageRequest(green))
        stage.expect(
            first.source == .network && second.source == .network,
            otherwise: "\(first.source), \(second.source)"
        )
        await stage.waitForFrames(2)
        let screen = try await stage.screenshot()
        stage.expect(screen[50, 50], looksLike: .red, "GtkPicture")
        stage.expect(screen[150, 50], looksLike: .green, "GtkImage")
    }

    /// Shows the image at `EIDETIC_SCENE_URL` without a pipeline, and waits until the shared one has stored it.
    static func defaultForm(_ stage: Stage) async throws {
        let url = getenv("EIDETIC_SCENE_URL").map { String(cString: $0) } ?? ""
        let widget = stage.add(gtk_picture_new())
        await stage.present()
        var response: ImageResponse?
        ImageWidget(widget).setImage(ImageRequest(url)) { response = try? $0.get() }
        await stage.wait(for: "the image") { response != nil }
        print("source \(response.map { "\($0.source)" } ?? "none")")
        await stage.waitForFrames(2)
        let screen = try await stage.screenshot()
        let expected = Colour(red: 250, green: 60, blue: 0)
        stage.expect(screen[50, 50], looksLike: expected)
        let path = ImageCache.shared.path(for: .init(ImageRequest(url))) ?? ""
        await stage.wait(for: "the entry on disk") { access(path, F_OK) == 0 }
    }

    /// Shows an image from memory: it is visible when the call returns.
    static func memoryHit(_ stage: Stage) async throws {
        let widget = stage.add(gtk_picture_new())
        let request = try stage.request(for: try stage.serve("red.png", colour: .red))
        _ = try await stage.pipeline.image(for: request)
        await stage.present()
        var order: [String] = []
        ImageWidget(widget, pipeline: stage.pipeline).setImage(
            request,
            presentation: .init(placeholder: try .plain(.blue), transition: .crossFade())
        ) { order.append("completed \(((try? $0.get())?.source).map { "\($0)" } ?? "not")") }
        order.append("returned")
        stage.expect(order, is: ["completed memory", "returned"])
        await stage.waitForFrames(2)
        let screen = try await stage.screenshot()
        stage.expect(screen[50, 50], looksLike: .red)
    }
}
#endif
