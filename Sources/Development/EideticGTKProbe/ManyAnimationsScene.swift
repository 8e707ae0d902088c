#if GTK
import CGTK
import Eidetic
import EideticCore
import EideticGTK
import EideticTestSupport

extension Scenes {
    /// Plays 50 different animations in one window: each goes through its frames again and again.
    static func manyAnimations(_ stage: Stage) async throws {
        let durations = (0..<50).map { Duration.milliseconds(60 + 10 * ($0 % 8)) }
        var logs: [TextureLog] = []
        for (number, duration) in durations.enumerated() {
            let url = try stage.serveAnimation(number: number, frameDuration: duration)
            let widget = stage.add(gtk_picture_new(), atX: number % 10 * 40, y: number / 10 * 40, side: 40)
            ImageWidget(widget, pipeline: stage.pipeline).setImage(
                ImageRequest(url, size: PixelSize(width: 64, height: 64))
            )
            logs.append(TextureLog(widget))
        }
        await stage.present()
        var shown = [Set<Int>](repeating: [], count: logs.count)
        await stage.wait(for: "six different frames of each animation") {
            for (number, log) in logs.enumerated() { shown[number].insert(log.frameNumber) }
            return shown.allSatisfy { $0.count >= 6 }
        }
    }
}

extension TextureLog {
    /// The number of the frame of ``Stage/serveAnimation(number:frameDuration:)`` that is shown, from its green.
    fileprivate var frameNumber: Int {
        guard let texture = currentTexture else { return 0 }
        var pixels = [UInt8](repeating: 0, count: 64 * 64 * 4)
        gdk_texture_download(texture, &pixels, 64 * 4)
        return Int((Double(pixels[4 * 63 + 1]) / 20).rounded())
    }
}

extension Stage {
    /// Adds a widget to the window at a place.
    fileprivate func add(
        _ widget: UnsafeMutablePointer<GtkWidget>?,
        atX x: Int,
        y: Int,
        side: Int32
    ) -> UnsafeMutablePointer<GtkWidget> {
        guard let widget else { preconditionFailure("GTK cannot create the widget") }
        gtk_widget_set_size_request(widget, side, side)
        let fixed = UnsafeMutableRawPointer(area).assumingMemoryBound(to: GtkFixed.self)
        gtk_fixed_put(fixed, widget, Double(x), Double(y))
        return widget
    }

    /// Adds an animation of twelve frames, whose colours depend on its number, to the server, and returns its URL.
    fileprivate func serveAnimation(number: Int, frameDuration: Duration) throws -> String {
        let size = PixelSize(width: 64, height: 64)
        let frames = try (0..<12).map { frame in
            let pixels = try PixelBuffer(size: size, alpha: .opaque) { index in
                guard index % 64 / 5 != frame else { return SIMD4(255, 255, 255, 255) }
                return SIMD4(UInt8(5 * number), UInt8(20 * frame), 90, 255)
            }
            return Image.Frame(pixels: pixels, duration: frameDuration)
        }
        let image = Image(frames: frames, loopCount: nil, format: .gif, sourceSize: size)
        return try server.addFile(try image.encoded(as: .gif), at: "\(number).gif")
    }
}
#endif
