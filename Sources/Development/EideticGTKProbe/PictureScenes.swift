#if GTK
import CGTK
import Eidetic
import EideticCore
import EideticGTK

extension Scenes {
    /// One call each for a picture and an image.
    static func pictures(_ stage: Stage) async throws {
        let picture = stage.add(gtk_picture_new())
        let image = stage.add(gtk_image_new())
        gtk_image_set_pixel_size(OpaquePointer(image), 100)
        let red = try stage.put("red.png", .red), green = try stage.put("green.png", .green)
        await stage.present()
        let first = try await ImageWidget(picture, pipeline: stage.pipeline).show(red)
        let second = try await ImageWidget(image, pipeline: stage.pipeline).show(green)
        stage.expect(first.source == .network && second.source == .network, "\(first.source), \(second.source)")
        await stage.frames(2)
        let screen = try await stage.screenshot()
        stage.expect(screen[50, 50].looks(like: .red), "picture: \(screen[50, 50])")
        stage.expect(screen[150, 50].looks(like: .green), "image: \(screen[150, 50])")
    }

    /// A picture in memory is there when the call returns.
    static func memoryHit(_ stage: Stage) async throws {
        let widget = stage.add(gtk_picture_new())
        let request = try stage.request(try stage.put("red.png", .red))
        _ = try await stage.pipeline.image(for: request)
        await stage.present()
        var order: [String] = []
        ImageWidget(widget, pipeline: stage.pipeline).setImage(
            request,
            presentation: .init(placeholder: try .plain(.blue), transition: .crossFade())
        ) { order.append("completed \(((try? $0.get())?.source).map(\.rawValue) ?? "not")") }
        order.append("returned")
        stage.expect(order == ["completed memory", "returned"], "\(order)")
        await stage.frames(2)
        let screen = try await stage.screenshot()
        stage.expect(screen[50, 50].looks(like: .red), "\(screen[50, 50])")
    }
}
#endif
