#if GTK
import CGTK
import Eidetic
import EideticCore
import EideticGTK
import EideticTestSupport

extension Scenes {
    /// Plays an animation as it arrives: a widget that waits for its frames misses none, whatever others have decoded
    /// meanwhile, and a paused one shows what is sought.
    static func receivedAnimation(_ stage: Stage) async throws {
        let gates = [Gate(), Gate()]
        let server = try Self.server(of: try largeAnimation(), gates: gates)
        let widget = stage.add(gtk_picture_new())
        await stage.present()
        let view = ImageWidget(widget, pipeline: stage.pipeline)
        let log = TextureLog(widget)
        var isFinished = false
        let side = PixelSize(width: 900, height: 900)
        view.setImage(ImageRequest(server.url + "/a.gif", size: side, options: .progressive)) { _ in isFinished = true }
        await stage.wait(for: "the frames of the first part") { view.player()?.frameIndex == 3 }
        await stage.waitForFrames(10)
        guard let player = view.player() else { return stage.expect(false, otherwise: "the widget has no player") }
        stage.expect(player.isStalled && player.frameIndex == 3, otherwise: "it has not stopped: \(player.frameIndex)")
        // The window has room for three frames, so that these are decoded again.
        for index in [1, 2, 1, 2] { _ = try await player.animation.frame(at: index) }
        await stage.waitForFrames(10)
        gates[0].open()
        await stage.wait(for: "the frames of the second part") { player.frameIndex == 7 }
        stage.expect(!isFinished, otherwise: "the download is finished already")
        gates[1].open()
        await stage.wait(for: "the end of the download") { isFinished }
        await stage.wait(for: "the second loop") { player.frameIndex == 2 }
        stage.expect(view.player() === player, otherwise: "another player")
        player.pause()
        player.seek(toFrame: 9)
        await stage.wait(for: "the frame that is sought") { player.frameIndex == 9 }
        await stage.waitForFrames(10)
        let count = log.record()
        await stage.waitForFrames(20)
        stage.expect(log.record(), is: count, "it plays while it is paused")
        player.resume()
        await stage.wait(for: "it plays on") { log.record() > count + 3 }
    }

    /// Returns an animation of 12 frames, of which three fit into a window.
    private static func largeAnimation() throws -> [UInt8] {
        let size = PixelSize(width: 900, height: 900)
        let frames = try (0..<12).map { frame in
            let pixels = try PixelBuffer(size: size, alpha: .opaque) { _ in SIMD4(UInt8(20 * frame), 60, 90, 255) }
            return Image.Frame(pixels: pixels, duration: .milliseconds(60))
        }
        let image = Image(frames: frames, loopCount: nil, format: .gif, sourceSize: size)
        return try image.encoded(as: .gif)
    }

    /// A server that sends four frames, four more when the first gate is open, and then the others.
    private static func server(of bytes: [UInt8], gates: [Gate]) throws -> ScriptedOrigin {
        let controls = bytes.indices.dropLast(8).filter { bytes[$0...].starts(with: [0x21, 0xf9, 4]) }
        let (first, second) = (controls[4], controls[8])
        return try ScriptedOrigin { _ in
            [
                .head(200, headers: ["Content-Length": "\(bytes.count)"]), .send(Array(bytes[..<first])),
                .wait(gates[0]), .send(Array(bytes[first..<second])), .wait(gates[1]), .send(Array(bytes[second...])),
            ]
        }
    }
}
#endif
