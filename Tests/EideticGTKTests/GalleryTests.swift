#if GTK
import EideticCore
import EideticTestSupport
import Glibc
import Testing

@Suite("Gallery", .timeLimit(.minutes(3)), .enabled(if: Scene.canPlay, "needs Xvfb, openbox, imagemagick, nginx"))
struct GalleryTests {
    @Test("L01, C12 the Gallery with keys and mouse: grid, detail, dark, refresh, size of the cache, clear")
    func use() async throws {
        let gallery = try await RunningGallery()
        let count = try await gallery.start()
        try await gallery.xdotool("mousemove", "--window", gallery.window, "150", "170", "click", "1")
        await gallery.waits(for: "detail shown: 0")
        try await gallery.press("Right")
        await gallery.waits(for: "detail shown: 1")
        try await gallery.press("Escape")
        let light = try await gallery.brightness()
        try await gallery.press("ctrl+d")
        await gallery.until("dark") { try await gallery.brightness() < light / 2 }
        // Refresh: the server is asked for each picture whether it has changed, and says no.
        try await gallery.press("F5")
        await gallery.until("revalidation") {
            try await gallery.server.requests().count { $0.status == 304 } >= count
        }
        // The menu button, then its only button.
        try await gallery.xdotool("mousemove", "--window", gallery.window, "930", "27", "click", "1")
        await gallery.until("the cleared cache") {
            try await gallery.press("Return")
            return gallery.says("cleared to 0 bytes")
        }
        try await gallery.quit()
    }

    @Test("L06, C09 the Gallery shows the list and the pictures from the cache when there is no server")
    func offline() async throws {
        let gallery = try await RunningGallery()
        try await gallery.start()
        try await gallery.quit()
        await gallery.server.stop()
        try await gallery.start()
        await gallery.waits(for: "offline")
        #expect(!gallery.says("failed"))
        try await gallery.quit()
    }
}

/// A Gallery with a server of six pictures, in a display server of its own.
private final class RunningGallery {
    let server: Nginx
    private let screen: Screen
    private let directory: TemporaryDirectory
    private var process: Subprocess?
    private(set) var window = ""

    init() async throws {
        server = try await Nginx(.init(server: "autoindex on;"))
        screen = try await Screen()
        directory = try TemporaryDirectory("gallery")
        for number in 0..<6 { try server.put(Self.picture(number), at: "\(number).bmp") }
    }

    /// A bitmap of one colour.
    private static func picture(_ number: Int) -> [UInt8] {
        let (width, height) = (64, 48)
        func little(_ value: Int, _ bytes: Int) -> [UInt8] { (0..<bytes).map { UInt8(value >> (8 * $0) & 255) } }
        let head =
            little(54 + width * height * 4, 4) + little(0, 4) + little(54, 4) + little(40, 4) + little(width, 4)
            + little(height, 4) + little(1, 2) + little(32, 2) + [UInt8](repeating: 0, count: 24)
        let colour = [UInt8(255 - number * 10), 240, UInt8(200 + number), 255]
        return Array("BM".utf8) + head + (0..<width * height).flatMap { _ in colour }
    }

    /// Starts it and waits until all pictures are shown; gives how many there are.
    @discardableResult
    func start() async throws -> Int {
        let arguments = ["--report", "--cache", directory.path("cache"), server.url + "/"]
        process = try Subprocess(Scene.program("Gallery"), arguments, environment: screen.environment(["GTK_THEME": nil]))
        await waits(for: "all shown")
        let found = try await xdotool("search", "--onlyvisible", "--name", "^Gallery$")
        window = found.split(separator: "\n").first.map(String.init) ?? ""
        return 6
    }

    func waits(for text: String, _ location: SourceLocation = #_sourceLocation) async {
        let came = await process?.waitForOutput(text) ?? false
        let said = "\(process?.outputSoFar ?? "") \(process?.errorsSoFar ?? "")"
        #expect(came, "\"\(text)\" did not come, but: \(said)", sourceLocation: location)
    }

    func says(_ text: String) -> Bool { process?.outputSoFar.contains(text) ?? false }

    func until(_ what: String, _ condition: () async throws -> Bool) async {
        while (try? await condition()) != true {
            // The time limit of a test cancels it.
            guard !Task.isCancelled else { return _ = Issue.record("waited in vain for \(what)") }
            await Task.yield()
        }
    }

    func press(_ key: String) async throws {
        try await xdotool("windowfocus", "--sync", window)
        try await xdotool("key", key)
    }

    @discardableResult
    func xdotool(_ arguments: String...) async throws -> String {
        try await Subprocess.run("xdotool", arguments, environment: screen.environment()).outputText
    }

    /// The mean brightness of the window: 0 to 1.
    func brightness() async throws -> Double {
        let program = "import -window \(window) miff:- | convert - -format '%[fx:mean]' info:"
        let result = try await Subprocess.run("sh", ["-c", program], environment: screen.environment())
        return Double(result.outputText) ?? 0
    }

    func quit() async throws {
        try await press("ctrl+q")
        let result = await process?.finish()
        #expect(result?.status == .exited(0), "\(result?.errorText ?? "")")
    }
}
#endif
