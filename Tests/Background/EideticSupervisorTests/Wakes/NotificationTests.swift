import EideticCore
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import EideticLifecycle
import Testing

@Suite("Local notifications", .serialized, .timeLimit(.minutes(3)))
struct NotificationTests {
    @Test(
        "B11 a notification is shown in its time with text, sound and badge; a click launches or brings back",
        arguments: ControlGroups.kinds
    )
    func shownAndClicked(kind: FreezerKind) async throws {
        for state in [WakeHarness.State.active, .suspended, .dead, .forceQuit] {
            let harness = try await WakeHarness(kind, withBus: true)
            let server = try await harness.start("notification-server")
            try await harness.launch("org.example.one")
            try await harness.send("notify a 1 Hello", to: "org.example.one")
            try await harness.bring("org.example.one", to: state)
            let line = "shows 1 replacing 0 title Hello body &lt;body&gt; sound message-new-instant\n"
            #expect(await server.waitForOutput(line), "\(server.outputSoFar)")
            #expect(await server.waitForOutput("badge application://org.example.one.desktop 3\n"))
            try await harness.send("click 1", to: "notification-server", isAnswered: false)
            await harness.daemon.expectOutput("org.example.one response a default info-a\n")
            await harness.daemon.expectState(.active, of: "org.example.one")
            if state == .dead || state == .forceQuit {
                #expect(harness.daemon.output.contains("launched visible for notificationResponse(\"a\")"))
            }
            await harness.finish()
        }
    }

    @Test("B20 a notification is not an interruption: the application stays active")
    func noInterruption() async throws {
        let harness = try await WakeHarness(ControlGroups.kinds[0], withBus: true)
        let server = try await harness.start("notification-server")
        try await harness.launch("one")
        try await harness.send("notify a 0 Hello", to: "one")
        #expect(await server.waitForOutput("shows 1 "))
        try await harness.send("pending", to: "one")
        #expect(!harness.daemon.output.contains("one willResignActive"))
        #expect(try harness.daemon.status(of: "one")?.state == .active)
        await harness.finish()
    }

    @Test("B11 200 notifications are all shown, in any order")
    func many() async throws {
        let harness = try await WakeHarness(
            ControlGroups.kinds[0],
            WakeHarness.fast + ["--message-rate", "1000"],
            withBus: true
        )
        let server = try await harness.start("notification-server")
        try await harness.launch("one")
        try await harness.send("many 200", to: "one")
        try await harness.bring("one", to: .dead)
        #expect(await server.waitForOutput("title number ", times: 200), "\(server.outputSoFar.count)")
        let shown = Set(
            server.outputSoFar.split(separator: "\n").compactMap { $0.split(separator: " ").dropFirst(6).first }
        )
        #expect(shown.count == 200)
        await harness.finish()
    }

    @Test("B11 one that was due while the supervisor was off comes once; without a server it waits")
    func missed() async throws {
        let harness = try await WakeHarness(ControlGroups.kinds[0], withBus: true)
        try await harness.launch("one")
        try await harness.send("notify a 1 Hello", to: "one")
        try await harness.bring("one", to: .dead)
        await harness.daemon.kill()
        let server = try await harness.start("notification-server")
        try await harness.daemon.start()
        #expect(await server.waitForOutput("title Hello"))
        // When the server has answered.
        let isShown = await harness.daemon.waitForStatuses { _ in
            (try? harness.why("one").contains { $0.hasPrefix("notifications: ") }) == false
        }
        #expect(isShown)
        await harness.finish()
    }

    @Test("B11 the same identifier takes the place of the earlier notification on the screen")
    func replaced() async throws {
        let harness = try await WakeHarness(ControlGroups.kinds[0], withBus: true)
        let server = try await harness.start("notification-server")
        try await harness.launch("one")
        try await harness.send("notify a 0 First", to: "one")
        #expect(await server.waitForOutput("title First"))
        // When the server has answered with its number.
        let isShown = await harness.daemon.waitForStatuses { _ in
            (try? harness.why("one").contains { $0.hasPrefix("notifications: ") }) == false
        }
        #expect(isShown)
        try await harness.send("notify a 0 Second", to: "one")
        #expect(await server.waitForOutput("shows 1 replacing 1 title Second"), "\(server.outputSoFar)")
        await harness.finish()
    }

    @Test("B11 without a supervisor a running application shows its notifications, and refuses requests for wakes")
    func standalone() async throws {
        let harness = try await WakeHarness(ControlGroups.kinds[0], withBus: true)
        let server = try await harness.start("notification-server")
        let program = try Subprocess(
            Daemon.probe,
            arguments: ["wake", "alone", "--commands", harness.fifo("alone")],
            environment: ["DBUS_SESSION_BUS_ADDRESS": harness.address, "EIDETIC_RUNTIME_DIR": nil]
        )
        #expect(await program.waitForOutput("alone active\n"))
        try await harness.send("notify a 1 Hello", to: "alone", isAnswered: false)
        #expect(await server.waitForOutput("shows 1 replacing 0 title Hello"), "\(server.outputSoFar)")
        try await harness.send("click 1", to: "notification-server", isAnswered: false)
        #expect(await program.waitForOutput("alone response a default info-a\n"), "\(program.outputSoFar)")
        try await harness.send("delivers", to: "alone", isAnswered: false)
        #expect(await program.waitForOutput("alone delivers false\n"))
        try await harness.send("refresh r", to: "alone", isAnswered: false)
        #expect(await program.waitForOutput("no supervisor could wake the application: start eideticd"))
        try await harness.send("register", to: "alone", isAnswered: false)
        #expect(await program.waitForOutput("alone address none: no supervisor runs"))
        program.kill()
        await harness.finish()
    }

    @Test("B13 a message of a distributor reaches the application: it has the address, and a forged token nothing")
    func distributor() async throws {
        let harness = try await WakeHarness(ControlGroups.kinds[0], withBus: true)
        let distributor = try await harness.start("distributor")
        try await harness.launch("org.example.one")
        try await harness.send("register", to: "org.example.one")
        await harness.daemon.expectOutput("org.example.one address https://push.example/org.example.one\n")
        #expect(await distributor.waitForOutput("registers org.example.one"))
        try await harness.bring("org.example.one", to: .suspended)
        let message = #"{"content-available":1}"#
        try await harness.send("forged \(message)", to: "distributor", isAnswered: false)
        try await harness.send("message \(message)", to: "distributor", isAnswered: false)
        await harness.daemon.expectOutput("org.example.one message in background \(message)\n")
        #expect(harness.daemon.output.ranges(of: "one message in").count == 1)
        await harness.finish()
    }

    @Test("B13 a message lets a suspended application prepare its data first, and tell the user after")
    func preparesFirst() async throws {
        let harness = try await WakeHarness(ControlGroups.kinds[0], withBus: true)
        let server = try await harness.start("notification-server")
        try await harness.launch("one", ["--tells-user"])
        try await harness.bring("one", to: .suspended)
        try harness.daemon.perform(.push(identifier: "one", payload: Array(#"{"content-available":1}"#.utf8)))
        #expect(await server.waitForOutput("title prepared"), "\(server.outputSoFar)")
        await harness.daemon.expectOutput("one prepared\n")
        await harness.daemon.expectState(.suspended, of: "one")
        await harness.finish()
    }

    @Test("B09 calls of other programs over D-Bus reach the supervisor, and wake a frozen or launch a dead application")
    func names() async throws {
        let entries = try DesktopEntries(["org.example.one": "DBusActivatable=true\nX-Eidetic-BackgroundModes=fetch;"])
        let harness = try await WakeHarness(
            ControlGroups.kinds[0],
            WakeHarness.fast + ["--applications", entries.path],
            withBus: true
        )
        try await harness.launch("org.example.one")
        for state in [WakeHarness.State.suspended, .dead] {
            try await harness.bring("org.example.one", to: state)
            try await harness.callApplication("Activate", signature: "a{sv}", values: ["0"])
            await harness.daemon.expectState(.active, of: "org.example.one")
        }
        try await harness.callApplication("Open", signature: "asa{sv}", values: ["1", "x:1", "0"])
        await harness.daemon.expectOutput("org.example.one opens x:1\n")
        try await harness.callApplication(
            "ActivateAction",
            signature: "sava{sv}",
            values: ["compose", "1", "s", "text", "0"]
        )
        await harness.daemon.expectOutput("org.example.one action compose text\n")
        await harness.finish()
    }

    @Test(
        "B09 a URL that the desktop opens launches the application, and brings it from suspended to the foreground",
        .enabled(if: Subprocess.executablePath(for: "gio") != nil, "skipped: gio is not installed")
    )
    func desktopURL() async throws {
        let identifier = "org.example.one"
        let keys = "DBusActivatable=true\nMimeType=x-scheme-handler/one;\nX-Eidetic-BackgroundModes="
        let entries = try DesktopEntries([identifier: keys])
        try entries.setDefault(identifier, forScheme: "one")
        let harness = try await WakeHarness(
            ControlGroups.kinds[0],
            WakeHarness.fast + ["--applications", entries.path],
            withBus: true
        )
        try await harness.launch(identifier)
        for state in [WakeHarness.State.dead, .suspended, .active] {
            try await harness.bring(identifier, to: state)
            try await harness.openFromDesktop("one:\(state)", entries: entries)
            await harness.daemon.expectOutput("\(identifier) opens one:\(state)\n")
            await harness.daemon.expectState(.active, of: identifier)
        }
        await harness.finish()
    }

    @Test("B10 the location of GeoClue wakes a suspended application")
    func location() async throws {
        let harness = try await WakeHarness(ControlGroups.kinds[0], withBus: true)
        let service = try await harness.start("location-service")
        try await harness.launch("one")
        try await harness.send("location", to: "one")
        #expect(await service.waitForOutput("client of one\nstarts\n"), "\(service.outputSoFar)")
        try await harness.bring("one", to: .suspended)
        try await harness.send("move 48.1 11.6", to: "location-service", isAnswered: false)
        await harness.daemon.expectOutput("one location 48.1 11.6 25.0 in background\n")
        await harness.daemon.expectState(.suspended, of: "one")
        await harness.finish()
    }
}
