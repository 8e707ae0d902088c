#if GTK
import EideticTestSupport
import Glibc
import Testing

@Suite("GTK widgets", .timeLimit(.minutes(3)), .needsScene)
struct ImageWidgetTests {
    @Test("L01 one call shows an image in a GtkPicture and in a GtkImage")
    func images() async throws { try await Scene.play("images") }

    @Test("L01 L26 a widget without a pipeline loads with the shared one: from the network, then from the disk at home")
    func defaultForm() async throws {
        let server = try await Nginx(), home = try TemporaryDirectory(named: "home")
        let url = try server.addFile(try RunningGallery.encodedImage(number: 0), at: "a.png")
        for source in ["network", "disk"] {
            let environment = ["EIDETIC_SCENE_URL": url, "HOME": home.path, "XDG_CACHE_HOME": nil]
            #expect(try await Scene.play("default-form", environment: environment).contains("source \(source)"))
        }
        #expect(access(home.path(of: ".cache/eidetic/default/CACHEDIR.TAG"), F_OK) == 0)
        #expect(try await server.requests().count == 1)
    }

    @Test("L15 an image in memory is set when the call returns, and on the screen in the next frame")
    func memoryHit() async throws { try await Scene.play("memory-hit") }

    @Test("L06 placeholders, failure images and kept images are shown as the options require")
    func options() async throws { try await Scene.play("options") }

    @Test("L23 a widget starts from the image that is in memory in another size")
    func preview() async throws { try await Scene.play("preview") }

    @Test("L10 L06 the placeholder stays where a partial image has no pixels yet, also in a transition")
    func partial() async throws { try await Scene.play("partial") }

    @Test("L25 nothing is drawn in the background, and the last state on return")
    func background() async throws { try await Scene.play("background") }

    @Test("B18 L25 a window that is minimised early puts its application into the background")
    func minimized() async throws { try await Scene.play("minimized") }

    @Test("L01 a display that is no widget shows images through a slot")
    func ownDisplay() async throws { try await Scene.play("own-display") }

    @Test("L01 a button shows an image for each of its states")
    func buttons() async throws { try await Scene.play("buttons") }

    @Test("L01 a marker on a map shows an image", .enabled(if: Scene.hasShumate, "libshumate is not installed"))
    func marker() async throws { try await Scene.play("marker") }

    @Test("L01 an image is decoded again when the scale of its screen changes")
    func scale() async throws { try await Scene.play("scale") }

    @Test("L01 the image is decoded to the widget's size multiplied by its scale factor", arguments: [1, 2])
    func sizes(scale: Int) async throws {
        let lines = try await Scene.play("sizes", environment: ["GDK_SCALE": "\(scale)"])
        #expect(lines.contains("scale \(scale).0"))
    }

    @Test("L01 the image is decoded to the widget's size multiplied by a fraction that GTK tells")
    func fractionalScale() async throws {
        // GTK 4.12 and later have this function; here it is one of a library that is loaded before.
        let directory = try TemporaryDirectory(named: "scale")
        let library = directory.path(of: "scale.so")
        let source = try directory.write(
            Array("double gdk_surface_get_scale(void *surface) { return surface ? 1.5 : 0; }".utf8),
            to: "scale.c"
        )
        guard let compiler = ["cc", "clang"].first(where: { Subprocess.executablePath(for: $0) != nil }) else {
            return print("skipped: no compiler of C")
        }
        let result = try await Subprocess.run(compiler, arguments: ["-shared", "-fPIC", "-o", library, source])
        #expect(result.status == .exited(0), "\(result.errorText)")
        let lines = try await Scene.play("sizes", environment: ["LD_PRELOAD": library])
        #expect(lines.contains("scale 1.5"))
    }

    @Test("L01 an image that is longer than a surface may be is drawn whole", arguments: ["cairo", nil])
    func veryWide(renderer: String?) async throws {
        try await Scene.play("very-wide", environment: ["GSK_RENDERER": renderer])
    }

    @Test("L01 a widget with more room than it requests gets an image of the size of its room")
    func smallRequests() async throws { try await Scene.play("small-requests") }

    @Test("L01 a widget without a size loads after its layout")
    func notSized() async throws { try await Scene.play("not-sized") }

    @Test("L14 widgets load A, then B, with every order of disturbances: B is shown, A was cancelled before")
    func reuse() async throws { try await Scene.play("reuse") }
}
#endif
