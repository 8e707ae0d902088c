#if GTK
import EideticTestSupport
import Testing

@Suite("GTK widgets", .timeLimit(.minutes(3)), .enabled(if: Scene.canPlay, "needs Xvfb, openbox, imagemagick, nginx"))
struct PictureTests {
    @Test("L01 one call puts a picture into a GtkPicture and a GtkImage, and it is on the screen")
    func pictures() async throws { try await Scene.play("pictures") }

    @Test("L15 a picture in memory is there when the call returns, and in the next frame on the screen")
    func memoryHit() async throws { try await Scene.play("memory-hit") }

    @Test("L06 placeholders, the failure's picture and what is kept are seen as the options say")
    func options() async throws { try await Scene.play("options") }

    @Test("L23 a widget starts from the picture that is in memory in another size")
    func preview() async throws { try await Scene.play("preview") }

    @Test("L25 in the background nothing is drawn, and on return the last state")
    func background() async throws { try await Scene.play("background") }

    @Test("L01 what is no widget shows pictures through a slot and a display of its own")
    func ownDisplay() async throws { try await Scene.play("own-display") }

    @Test("L01 a button shows a picture for each of its states")
    func buttons() async throws { try await Scene.play("buttons") }

    @Test("L01 a marker on a map shows a picture", .enabled(if: Scene.hasShumate, "libshumate is not installed"))
    func marker() async throws { try await Scene.play("marker") }

    @Test("L01 the picture is decoded to the widget's size by its scale factor", arguments: [1, 2])
    func sizes(_ scale: Int) async throws {
        let lines = try await Scene.play("sizes", environment: ["GDK_SCALE": "\(scale)"])
        #expect(lines.contains("scale \(scale)"))
    }

    @Test("L01 a widget without a size loads when it is laid out")
    func notSized() async throws { try await Scene.play("not-sized") }

    @Test("L14 a thousand widgets given A, then B, disturbed in every order between: B is seen, A was cancelled before")
    func reuse() async throws { try await Scene.play("reuse") }
}
#endif
