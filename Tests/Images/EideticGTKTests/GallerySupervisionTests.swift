#if GTK
import EideticCodecs
import EideticCore
import EideticGTK
import EideticTestSupport
import Glibc
import Testing

/// The Gallery with a real supervisor.
@Suite("The Gallery under the supervisor", .timeLimit(.minutes(5)), .needsGallery)
struct GallerySupervisionTests {
    private static let identifier = "org.eidetic.Gallery"

    private let gallery: RunningGallery
    private let requestReached = Gate()
    private let responseGate = Gate()
    private let origin: ScriptedOrigin
    private var supervisor: Subprocess
    private let runtimeDirectory: String

    init() async throws {
        gallery = try await RunningGallery(imageCount: 1)
        origin = try RunningGallery.heldOrigin(responseGate, reached: requestReached)
        runtimeDirectory = gallery.directory.path(of: "run")
        gallery.variables = ["EIDETIC_RUNTIME_DIR": runtimeDirectory]
        let entry = try FileSystem().contents(of: Self.entryPath)
        // The program of this build, with reports.
        let program =
            "Exec=\(Scene.executablePath(of: "Gallery")) --report --cache \(gallery.directory.path(of: "cache"))"
        let text = String(decoding: entry, as: UTF8.self).replacing("Exec=Gallery", with: program)
        _ = try gallery.directory.write(Array(text.utf8), to: "entries/\(Self.identifier).desktop")
        supervisor = try await Self.startSupervisor(of: gallery)
    }

    /// Starts a supervisor; in a group, what it and its applications use counts against the limit of that.
    private static func startSupervisor(of gallery: RunningGallery, in group: LimitedGroup? = nil) async throws
        -> Subprocess
    {
        let directory = gallery.directory
        let words =
            (group?.launcher ?? []) + [
                Scene.executablePath(of: "eideticd"), "--runtime-directory", directory.path(of: "run"),
                "--state-directory", directory.path(of: "saved"), "--applications", directory.path(of: "entries"),
                "--limit", "idle=50",
            ]
        let supervisor = try Subprocess(
            words[0],
            arguments: Array(words.dropFirst()),
            environment: gallery.environment
        )
        #expect(await supervisor.waitForOutput("ready"), "\(supervisor.errorsSoFar)")
        return supervisor
    }

    private static var entryPath: String {
        let directory = #filePath.split(separator: "/").dropLast(4).map { "/\($0)" }.joined()
        return "\(directory)/Examples/Gallery/\(identifier).desktop"
    }

    /// Performs a command of `eidetic app`, and returns its output.
    private func app(_ words: String...) async throws -> String {
        let result = try await Subprocess.run(
            Scene.executablePath(of: "eidetic-app"),
            arguments: words + ["--runtime-dir", runtimeDirectory]
        )
        #expect(result.status == .exited(0), "\(words): \(result.errorText)")
        return result.outputText
    }

    private func waitForState(_ state: String, of identifier: String = Self.identifier) async throws {
        try await eventually(state) {
            try await app("list", "--json").split(separator: "\n").contains {
                $0.contains("\"identifier\":\"\(identifier)\"") && $0.contains("\"state\":\"\(state)\"")
            }
        }
    }

    @Test("B21 B05 the Gallery is suspended when its download has ended, a snapshot is kept, and it returns")
    func returns() async throws {
        try await gallery.start([gallery.server.url + "/0.png", origin.url + "/late.png"], awaiting: "state active")
        await requestReached.wait()
        try await waitForState("active")
        try await eventually("the first image") { try await gallery.shows(0) }
        try await gallery.minimize()
        await gallery.waitForOutput("state background")
        // The load holds a background task.
        try await waitForState("background")
        try await eventually("the snapshot") { try await !app("list", "--snapshots").isEmpty }
        let words = try await app("list", "--snapshots").split(separator: " ").map(String.init)
        let path = try #require(words.last?.replacing("\n", with: ""))
        #expect(words.first == Self.identifier && path.hasPrefix(runtimeDirectory))
        let snapshot = try ImageDecoder.decode(try FileSystem().contents(of: path)).pixels
        #expect(max(snapshot.size.width, snapshot.size.height) == 512)
        let colour = RunningGallery.colour(ofImage: 0)
        let isVisible = (0..<snapshot.size.width).contains { column in
            (0..<snapshot.size.height).contains { snapshot.shows(colour, at: (column, $0)) }
        }
        #expect(isVisible, "the snapshot shows no image")
        responseGate.open()
        try await waitForState("suspended")
        _ = try await app("foreground", Self.identifier)
        await gallery.waitForOutput("state active", times: 2)
        try await eventually("the image") { try await gallery.shows(5) }
        try await gallery.quit()
        supervisor.kill(SIGTERM)
    }

    @Test("B02 the Gallery that is launched into the background shows no window until it is brought to the foreground")
    func backgroundLaunch() async throws {
        _ = try await app("launch", "--background", Self.identifier)
        try await waitForState("suspended")
        #expect(try await gallery.visibleWindows() == [])
        // Suspended as soon as it is launched, it may not have written that it is in the background.
        #expect(!supervisor.outputSoFar.contains("state active"), "\(supervisor.outputSoFar)")
        _ = try await app("foreground", Self.identifier)
        try await gallery.findWindow()
        try await waitForState("active")
        _ = try await app("quit", "--force", Self.identifier)
        supervisor.kill(SIGTERM)
    }

    /// Starts the Gallery, opens its first image, and minimizes it until it is suspended.
    private func suspendShowingImage() async throws {
        try await gallery.start([gallery.server.url + "/0.png"])
        try await waitForState("active")
        try await gallery.press("Return")
        await gallery.waitForOutput("detail shown")
        try await gallery.minimize()
        try await waitForState("suspended")
    }

    @Test("B16 the Gallery that was killed while it was suspended shows the same image at its next launch")
    func restored() async throws {
        try await suspendShowingImage()
        await gallery.killAndWait()
        try await waitForState("notRunning")
        _ = try await app("launch", Self.identifier)
        #expect(await supervisor.waitForOutput("restored: image 0"), "\(supervisor.outputSoFar)")
        #expect(await supervisor.waitForOutput("detail shown"), "\(supervisor.outputSoFar)")
        _ = try await app("quit", "--force", Self.identifier)
        supervisor.kill(SIGTERM)
    }

    @Test(
        "B07 B16 the Gallery that ends when the memory of a real group is short shows the same image at its next launch",
        .enabled(if: LimitedGroup.isAvailable, "needs root and a memory controller of version 1")
    )
    mutating func restoredAfterMemoryPressure() async throws {
        let group = try LimitedGroup(mebibytes: 256)
        supervisor.kill(SIGTERM)
        _ = await supervisor.waitUntilExit()
        supervisor = try await Self.startSupervisor(of: gallery, in: group)
        try await suspendShowingImage()
        let growth = ["--name", "growing", "--growth", "256"]
        let words = ["launch", "--runtime-dir", runtimeDirectory, "--", "growing"]
        let result = try await Subprocess.run(
            Scene.executablePath(of: "eidetic-app"),
            arguments: words + [Scene.executablePath(of: "eidetic-probe"), "supervised"] + growth
        )
        #expect(result.status == .exited(0), "\(result.errorText)")
        try await waitForState("notRunning")
        #expect(try await app("why", Self.identifier).contains("memory was exhausted"))
        _ = try await app("quit", "--force", "growing")
        try await waitForState("notRunning", of: "growing")
        _ = try await app("launch", Self.identifier)
        #expect(await supervisor.waitForOutput("restored: image 0"), "\(supervisor.outputSoFar)")
        #expect(await supervisor.waitForOutput("detail shown"), "\(supervisor.outputSoFar)")
        _ = try await app("quit", "--force", Self.identifier)
        supervisor.kill(SIGTERM)
    }
}
#endif
