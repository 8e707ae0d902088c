import EideticCore
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import Glibc
import EideticLifecycle
import Testing

@Suite("URLs for supervised applications", .serialized, .timeLimit(.minutes(20)))
struct URLTests {
    private static let fast = ["--limit", "idle=5"]

    @Test("B09 the sender of a URL is told whether the application has opened it, in each state of the application")
    func answers() async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.fast)
        try daemon.install("one")
        // It is launched, stays in the foreground, and returns from its suspension.
        for state in [LifecycleState.notRunning, .active, .suspended] {
            if state == .suspended { try daemon.perform(.background(identifier: "one")) }
            await daemon.expectState(state, of: "one")
            try daemon.perform(.openURL(identifier: "one", url: "x:\(state)"))
            await daemon.expectState(.active, of: "one")
        }
        await daemon.expectOutput("one openURL x:suspended\none didBecomeActive\n")
        let lines = daemon.output.split(separator: "\n").filter { $0.hasPrefix("one ") }.map { $0.dropFirst(4) }
        #expect(lines.suffix(3) == ["willEnterForeground", "openURL x:suspended", "didBecomeActive"])
        let refusal = try daemon.request(.openURL(identifier: "one", url: "refused:1"))
        #expect(refusal == [.refused(.lifecycle, message: "the application does not open this URL")])
        guard case .refused(.unknownApplication, _)? = try daemon.request(.openURL(identifier: "two", url: "x:1")).first
        else { throw SystemError(.receive, errorNumber: ENODATA, path: "no refusal") }
        await daemon.finish()
    }

    @Test("B09 the sender of a URL is told why the program of the application cannot be started")
    func missingProgram() async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.fast)
        let program = ProgramDescription(executable: daemon.directory.path(of: "missing"))
        try daemon.perform(.install(identifier: "one", program: program))
        guard case .refused(_, let message)? = try daemon.request(.openURL(identifier: "one", url: "x:1")).first else {
            throw SystemError(.receive, errorNumber: ENODATA, path: "no refusal")
        }
        #expect(message.contains("missing"), "\(message)")
        await daemon.finish()
    }

    @Test("B09 an application that asks another one to open a URL is named as its source")
    func source() async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.fast)
        try await daemon.launchInForeground("one")
        let command = "exec \(Daemon.executable("eidetic-app")) open --runtime-dir \"$1\" one x:1"
        var program = ProgramDescription(executable: "/bin/sh")
        program.arguments = ["-c", command, "sh", daemon.directory.path(of: "run")]
        try daemon.perform(.install(identifier: "sender", program: program))
        try daemon.perform(.launch(identifier: "sender", url: nil, inBackground: false))
        await daemon.expectOutput("one openURL x:1 from sender\n")
        await daemon.finish()
    }

    @Test(
        "B09 the next supervisor answers the sender of a URL if the first one is killed",
        arguments: ["x:1", "refused:1"]
    )
    func followed(url: String) async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.fast)
        try await daemon.launchInForeground("one", ["--wait", "didEnterBackground"])
        let process = try #require(try daemon.status(of: "one")?.process)
        try daemon.perform(.background(identifier: "one"))
        await daemon.expectOutput("one didEnterBackground\n")
        // The application is in a callback, so the URL waits for it in the record.
        let sender = try Subprocess(
            Daemon.executable("eidetic-app"),
            arguments: ["open", "--runtime-dir", daemon.directory.path(of: "run"), "one", url]
        )
        let record = daemon.directory.path(of: "run/applications/one/record")
        #expect(await daemon.waitForStatuses { _ in KernelFile.read(record)?.contains(url) == true })
        await daemon.kill()
        kill(process, SIGKILL)
        try await daemon.start()
        let result = await sender.waitUntilExit()
        #expect(result.status == .exited(url == "x:1" ? 0 : 1), "\(result.errorText)")
        if url != "x:1" { #expect(result.errorText.contains("does not open this URL"), "\(result.errorText)") }
        await daemon.expectOutput("one openURL \(url)\n")
        #expect(daemon.output.ranges(of: "one openURL \(url)\n").count == 1)
        await daemon.finish()
    }

    @Test("B09 a URL that an application handles while the supervisor is replaced is not delivered again")
    func handledMeanwhile() async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.fast)
        try await daemon.launchInForeground("one", ["--wait", "openURL x:1"])
        try daemon.perform(.launch(identifier: "one", url: "x:1", inBackground: false))
        await daemon.expectOutput("one openURL x:1\n")
        try await daemon.replace()
        kill(try #require(try daemon.status(of: "one")?.process), SIGUSR1)
        try daemon.perform(.launch(identifier: "one", url: "x:2", inBackground: false))
        await daemon.expectOutput("one openURL x:2\n")
        #expect(daemon.output.ranges(of: "one openURL x:1\n").count == 1)
        await daemon.finish()
    }

    @Test("B09 the sender of a URL that the next supervisor does not know is told so")
    func unknownToken() async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.fast)
        guard case .refused(.lifecycle, let message)? = try daemon.request(.followURL(token: 7)).first else {
            throw SystemError(.receive, errorNumber: ENODATA, path: "no refusal")
        }
        #expect(message.contains("is not known"))
        await daemon.finish()
    }

    @Test(
        "B09 each URL is answered once while the application is suspended, continued, ended and killed",
        arguments: ControlGroups.kinds
    )
    func everyState(kind: FreezerKind) async throws {
        let daemon = try await Daemon(kind, Self.fast)
        try daemon.install("one")
        var (handled, refused): (Set<Int>, Set<Int>) = ([], [])
        let total = Torture.repetitions(48, full: 1_000)
        for start in stride(from: 0, to: total, by: 8) {
            let senders = try (start..<min(start + 8, total)).map { number in
                try disturb(daemon)
                return (number, try Sender(number, to: daemon))
            }
            for (number, sender) in senders {
                if try await sender.answer() { handled.insert(number) } else { refused.insert(number) }
            }
            #expect(senders.allSatisfy { !$0.1.hasFurtherAnswer })
        }
        print("URLs \(total), opened \(handled.count), refused \(refused.count)")
        #expect(handled.count + refused.count == total && handled.count > 0)
        // An answer can come before the line, which has another way.
        for number in handled { await daemon.expectOutput("one openURL x:\(number)\n") }
        let lines = daemon.output.split(separator: "\n")
        for number in handled { #expect(lines.count { $0 == "one openURL x:\(number)" } == 1, "URL \(number)") }
        for number in refused { #expect(lines.count { $0 == "one openURL x:\(number)" } <= 1, "URL \(number)") }
        await daemon.finish()
    }

    /// Changes the state of the application at random, or ends its process.
    private func disturb(_ daemon: Daemon) throws {
        switch Int.random(in: 0..<10) {
        case 0, 1, 2: _ = try daemon.request(.background(identifier: "one"))
        case 3, 4: _ = try daemon.request(.foreground(identifier: "one"))
        case 5: _ = try daemon.request(.quit(identifier: "one", force: false))
        case 6: if let process = try daemon.status(of: "one")?.process { kill(process, SIGKILL) }
        case 7: RandomMoment.pass(within: .milliseconds(20))
        default: break
        }
    }

    /// A client that has sent a URL.
    private struct Sender {
        private let socket: PacketSocket

        init(_ number: Int, to daemon: Daemon) throws {
            socket = try PacketSocket.connect(to: daemon.controlSocket)
            _ = try socket.send(WireWriter.encode(ControlRequest.openURL(identifier: "one", url: "x:\(number)")))
        }

        /// Waits for the answer; returns whether the URL was opened.
        func answer() async throws -> Bool {
            let event = try OutputEvent()
            await event.wait(orFor: socket, atMost: .seconds(60))
            guard case .packet(let packet) = try socket.receive() else {
                throw SystemError(.receive, errorNumber: ETIMEDOUT)
            }
            return try WireReader.decode(ControlAnswer.self, from: packet.bytes).content == .done
        }

        var hasFurtherAnswer: Bool {
            if case .packet? = try? socket.receive() { true } else { false }
        }
    }
}
