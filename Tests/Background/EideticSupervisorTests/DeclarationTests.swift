import EideticCore
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import Glibc
import EideticLifecycle
import Testing

@Suite("Applications with desktop entries", .serialized, .timeLimit(.minutes(10)))
struct DeclarationTests {
    /// A directory of desktop entries, and a supervisor that reads it.
    private struct Fixture {
        let directory: TemporaryDirectory
        let daemon: Daemon

        init() async throws {
            directory = try TemporaryDirectory(named: "entries")
            daemon = try await Daemon(
                ControlGroups.kinds[0],
                ["--limit", "idle=5", "--applications", directory.path]
            )
        }

        /// Installs the desktop entry of the probe.
        func install(_ identifier: String, arguments: String = "", _ keys: String) throws {
            let entry = """
                [Desktop Entry]
                Type=Application
                Name=\(identifier)
                Exec=\(Daemon.probe) supervised --name \(identifier) \(arguments) %U
                \(keys)

                """
            _ = try directory.write(Array(entry.utf8), to: "\(identifier).desktop")
        }
    }

    @Test("B10 a wake for a declared mode launches the application; another one is refused, and why tells")
    func modes() async throws {
        let fixture = try await Fixture()
        let daemon = fixture.daemon
        try fixture.install("one", "X-Eidetic-BackgroundModes=fetch;")
        try daemon.perform(.wake(identifier: "one", kind: .fetch))
        await daemon.expectOutput("one wake fetch\n")
        let path = fixture.directory.path(of: "one.desktop")
        for (kind, word) in [(WakeReason.Kind.push, "remote-notification"), (.processing, "processing")] {
            let refusal = try daemon.request(.wake(identifier: "one", kind: kind))
            let reason = "X-Eidetic-BackgroundModes in \(path) does not name \(word)"
            #expect(refusal == [.refused(.lifecycle, message: reason)])
            #expect(try daemon.lines(.explain(identifier: "one")).contains("last refusal: \(reason)"))
            #expect(
                try daemon.lines(.log(identifier: "one", count: 200)).contains { $0.hasSuffix("refused: \(reason)") }
            )
        }
        #expect(try daemon.lines(.explain(identifier: "one")).contains("declared in \(path): fetch"))
        // Local notifications need no mode.
        try daemon.perform(.wake(identifier: "one", kind: .notification))
        // An undeclared use does not launch it either.
        try fixture.install("two", "X-Eidetic-BackgroundModes=audio;teleport;")
        #expect(try daemon.request(.wake(identifier: "two", kind: .fetch)) != [.done])
        #expect(try daemon.status(of: "two")?.process == nil)
        #expect(try daemon.lines(.explain(identifier: "two")).contains("unknown background modes: teleport"))
        await daemon.finish()
    }

    @Test(
        "B10 the desktop entry holds where the application says something else, and a new one from the next launch on"
    )
    func disagreement() async throws {
        let fixture = try await Fixture()
        let daemon = fixture.daemon
        let keys = "X-Eidetic-BackgroundModes=\nX-Eidetic-BackgroundBudget="
        try fixture.install("one", arguments: "--budget 300 --task t", keys + "20")
        try daemon.perform(.launch(identifier: "one", url: nil, inBackground: false))
        await daemon.expectState(.active, of: "one")
        try daemon.perform(.background(identifier: "one"))
        await daemon.expectState(.background, of: "one")
        let remaining = try #require(try daemon.status(of: "one")?.backgroundTimeRemaining)
        #expect(remaining > .zero && remaining <= .seconds(20))
        // A process keeps the entry of its launch.
        try fixture.install("one", "X-Eidetic-ExitsOnSuspend=true")
        #expect(try daemon.lines(.explain(identifier: "one")).contains { $0.hasSuffix("no background mode") })
        try daemon.perform(.quit(identifier: "one", force: true))
        await daemon.expectState(.notRunning, of: "one")
        try daemon.perform(.launch(identifier: "one", url: nil, inBackground: false))
        await daemon.expectState(.active, of: "one")
        try daemon.perform(.background(identifier: "one"))
        await daemon.expectOutput("one willTerminate\n")
        await daemon.expectState(.notRunning, of: "one")
        await daemon.finish()
    }

    @Test("B09 a URL goes to the application whose desktop entry names its scheme, which is launched for it")
    func scheme() async throws {
        let fixture = try await Fixture()
        let daemon = fixture.daemon
        try fixture.install("one", "MimeType=x-scheme-handler/One;\nX-Eidetic-BackgroundModes=\n")
        let client = try await Subprocess.run(

            Daemon.executable("eidetic-app"),
            arguments: ["open", "--runtime-dir", daemon.directory.path(of: "run"), "one:a?b"]
        )
        #expect(client.status == .exited(0), "\(client.errorText)")
        await daemon.expectOutput("one openURL one:a?b\n")
        for (url, word) in [
            ("two:a", "x-scheme-handler/two"), ("noscheme", "scheme"), ("1:a", "scheme"), (":a", "scheme"),
        ] {
            guard case .refused(_, let message)? = try daemon.request(.openURLByScheme(url)).first else {
                Issue.record("\(url) was opened")
                continue
            }
            #expect(message.contains(word), "\(message)")
        }
        await daemon.finish()
    }

    @Test(
        "B10 an application whose desktop entry is damaged, or whose program is missing, is not launched, with the reason"
    )
    func unusable() async throws {
        let fixture = try await Fixture()
        let daemon = fixture.daemon
        try fixture.install("one", "X-Eidetic-BackgroundBudget=soon")
        let missing =
            "[Desktop Entry]\nType=Application\nName=x\nExec=no-such-program\nX-Eidetic-BackgroundModes=fetch\n"
        _ = try fixture.directory.write(Array(missing.utf8), to: "two.desktop")
        for (identifier, word) in [("one", "X-Eidetic-BackgroundBudget is invalid"), ("two", "no-such-program")] {
            let request = ControlRequest.launch(identifier: identifier, url: nil, inBackground: false)
            guard case .refused(.failed, let message)? = try daemon.request(request).first else {
                Issue.record("\(identifier) was launched")
                continue
            }
            #expect(message.contains(word), "\(message)")
            #expect(try daemon.lines(.explain(identifier: identifier)).contains { $0.contains(word) })
        }
        await daemon.finish()
    }

    @Test("B09 URLs that a supervisor has accepted survive it, with their sources")
    func survivingURLs() async throws {
        let fixture = try await Fixture()
        let daemon = fixture.daemon
        try fixture.install("one", arguments: "--wait didEnterBackground", "X-Eidetic-BackgroundModes=\n")
        try daemon.perform(.launch(identifier: "one", url: nil, inBackground: false))
        await daemon.expectState(.active, of: "one")
        let process = try #require(try daemon.status(of: "one")?.process)
        try daemon.perform(.background(identifier: "one"))
        await daemon.expectOutput("one didEnterBackground\n")
        // The application is in a callback, so the URL waits for it in the record.
        let sender = Daemon.executable("eidetic-app")
        let script = "exec \(sender) open --runtime-dir '\(daemon.directory.path(of: "run"))' one x:1"
        var program = ProgramDescription(executable: "/bin/sh")
        program.arguments = ["-c", script]
        try daemon.perform(.install(identifier: "sender", program: program))
        try daemon.perform(.launch(identifier: "sender", url: nil, inBackground: false))
        let record = daemon.directory.path(of: "run/applications/one/record")
        #expect(await daemon.waitForStatuses { _ in KernelFile.read(record)?.contains("x:1") == true })
        await daemon.kill()
        kill(process, SIGKILL)
        try await daemon.start()
        await daemon.expectOutput("one openURL x:1 from sender\n")
        await daemon.finish()
    }
}
