#if GTK
import CGTK
import Eidetic
import EideticCore
import EideticGTK
import EideticTestSupport

extension Scenes {
    /// Shows the first half of a JPEG over the placeholder, which stays visible below it until the image has faded in.
    static func partial(_ stage: Stage) async throws {
        let widget = stage.add(gtk_picture_new())
        let remainder = Gate()
        await stage.present()
        let server = try halfSentImage(remainder: remainder)
        var isFinished = false
        ImageWidget(widget, pipeline: stage.pipeline).setImage(
            ImageRequest(server.url + "/half.jpg", options: .progressive),
            presentation: .init(
                placeholder: try .plain(.blue),
                transition: .crossFade(.seconds(4)),
                completesAfterTransition: true
            )
        ) { _ in isFinished = true }
        func isHalfRed() async throws -> Bool {
            let screen = try await stage.screenshot()
            guard screen[50, 10].looks(like: .red, within: 40) else { return false }
            stage.expect(screen[50, 95], looksLike: .blue, "below the first half")
            return true
        }
        while stage.hasPassed, !(try await isHalfRed()) { await stage.waitForFrames(1) }
        remainder.open()
        var mixed: Colour?
        while stage.hasPassed, !isFinished, mixed == nil {
            let colour = try await stage.screenshot()[50, 95]
            if !colour.looks(like: .blue, within: 20) { mixed = colour }
        }
        // Half of the placeholder and half of the image, never what is behind the widget.
        stage.expect(
            mixed.map { Int($0.green) < 70 } ?? false,
            otherwise: "during the transition: \(mixed.map(String.init(describing:)) ?? "nothing")"
        )
        await stage.wait(for: "the image") { isFinished }
        await stage.waitForFrames(2)
        let colour = try await stage.screenshot()[50, 95]
        stage.expect(colour.looks(like: .red, within: 40), otherwise: "the image: \(colour)")
    }

    /// A server that sends half of a baseline JPEG, and the other half when the gate is open.
    private static func halfSentImage(remainder: Gate) throws -> ScriptedOrigin {
        let bytes = try Image.noisy(.red, width: 200, height: 200).encoded(as: .jpeg)
        let half = bytes.count / 2
        return try ScriptedOrigin { _ in
            [
                .head(200, headers: ["Content-Length": "\(bytes.count)"]), .send(Array(bytes[..<half])),
                .wait(remainder), .send(Array(bytes[half...])),
            ]
        }
    }
}

extension Image {
    /// Returns an image of one colour with noise, which cannot be compressed.
    fileprivate static func noisy(_ colour: Colour, width: Int, height: Int) throws(EideticError) -> Image {
        let size = PixelSize(width: width, height: height)
        let channels = [colour.red, colour.green, colour.blue].map(Int.init)
        let pixels = try PixelBuffer(size: size, alpha: .opaque) { pixels, _ in
            for offset in pixels.indices {
                let noise = Int.random(in: -15...15)
                pixels[offset] = offset % 4 == 3 ? 255 : UInt8(clamping: channels[offset % 4] + noise)
            }
        }
        return Image(frames: [Frame(pixels: pixels)], format: .jpeg, sourceSize: size)
    }
}
#endif
