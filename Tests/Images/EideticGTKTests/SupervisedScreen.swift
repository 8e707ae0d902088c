#if GTK
import EideticCodecs
import EideticCore
import EideticTestSupport
import Testing

/// A supervisor whose applications have windows on a screen of their own.
final class SupervisedScreen {
    private let screen: Screen
    private let directory: TemporaryDirectory
    private let supervisor: Subprocess

    /// A Boolean value indicating whether all required programs are installed.
    static var canRun: Bool { Scene.canPlay && Subprocess.executablePath(for: "xdotool") != nil }

    init() async throws {
        (screen, directory) = (try await Screen(), try TemporaryDirectory(named: "supervised"))
        supervisor = try Subprocess(
            Scene.executablePath(of: "eideticd"),
            arguments: [
                "--runtime-directory", directory.path(of: "run"), "--state-directory", directory.path(of: "saved"),
                "--applications", directory.path(of: "entries"), "--limit", "idle=50", "--bus", "none",
                "--system-bus", "none",
            ],
            environment: screen.environment()
        )
        #expect(await supervisor.waitForOutput("ready"), "\(supervisor.errorsSoFar)")
    }

    /// Performs a command of `eidetic app`, and returns its output; a launched program gets the screen.
    @discardableResult
    func app(_ words: String..., location: SourceLocation = #_sourceLocation) async throws -> String {
        let result = try await Subprocess.run(
            Scene.executablePath(of: "eidetic-app"),
            arguments: words,
            environment: screen.environment(changes: ["EIDETIC_RUNTIME_DIR": directory.path(of: "run")])
        )
        #expect(result.status == .exited(0), "\(words): \(result.errorText)", sourceLocation: location)
        return result.outputText
    }

    /// Waits until an application has written a text.
    func waitForOutput(_ text: String, times: Int = 1, location: SourceLocation = #_sourceLocation) async {
        if await supervisor.waitForOutput(text, times: times) { return }
        let log = (try? await app("log")) ?? ""
        let output = "\(supervisor.outputSoFar)\(supervisor.errorsSoFar)"
        Issue.record("no \"\(text)\" in the output: \(output)\nthe log: \(log)", sourceLocation: location)
    }

    func waitForState(_ state: String) async throws {
        try await eventually("an application is \(state)", value: { try await app("list", "--json") }) {
            $0.contains("\"state\":\"\(state)\"")
        }
    }

    /// Reads the only snapshot; `nil` if there is none.
    func snapshot() async throws -> PixelBuffer? {
        let words = try await app("list", "--snapshots").split { $0 == " " || $0 == "\n" }.map(String.init)
        guard let path = words.last else { return nil }
        return try ImageDecoder.decode(try FileSystem().contents(of: path)).pixels
    }

    /// Returns the visible windows with a title.
    func windows(named title: String) async throws -> [Substring] {
        try await xdotool("search", "--onlyvisible", "--name", title).split(separator: "\n")
    }

    /// Minimises a window, and waits until its application is suspended.
    func suspendByMinimizing(windowNamed title: String) async throws {
        _ = try await xdotool("search", "--sync", "--onlyvisible", "--name", title)
        // A window manager that does not know the window yet ignores the request, and the launch may still present it.
        try await eventually("an application is suspended") {
            for window in try await windows(named: title) { _ = try await xdotool("windowminimize", String(window)) }
            return try await app("list", "--json").contains("\"state\":\"suspended\"")
        }
    }

    /// Returns a screenshot of a window.
    func capture(_ window: Substring) async throws -> PixelBuffer { try await screen.capture(String(window)) }

    private func xdotool(_ words: String...) async throws -> String {
        try await Subprocess.run("xdotool", arguments: words, environment: screen.environment()).outputText
    }

    /// Ends an application and the supervisor.
    func finish(_ identifier: String) async throws {
        try await app("quit", "--force", identifier)
        try await waitForState("notRunning")
        supervisor.kill(15)
        _ = await supervisor.waitUntilExit()
    }
}

extension PixelBuffer {
    /// Returns whether any pixel has a colour, apart from rounding.
    func contains(_ colour: [Int]) -> Bool {
        (0..<size.height).contains { row in (0..<size.width).contains { shows(colour, at: ($0, row)) } }
    }
}
#endif
