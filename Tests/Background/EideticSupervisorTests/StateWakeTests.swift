import EideticCore
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import EideticLifecycle
import Testing

@Suite("Wakes in every state", .serialized, .timeLimit(.minutes(10)))
struct StateWakeTests {
    private static let kinds = [WakeReason.Kind.fetch, .push, .session, .notification]

    /// Makes the probe of EideticBackground the program of an application.
    private func install(_ identifier: String, _ arguments: [String] = [], in daemon: Daemon) throws {
        var program = ProgramDescription(executable: Daemon.probe)
        program.arguments = ["background"] + arguments
        program.environment = ["PATH=/usr/bin:/bin"]
        try daemon.perform(.install(identifier: identifier, program: program))
    }

    private func wake(_ identifier: String, for kind: WakeReason.Kind, in daemon: Daemon) async throws {
        let count = daemon.output.ranges(of: "wake \(kind) ").count
        try daemon.perform(.wake(identifier: identifier, kind: kind))
        await daemon.expectOutput("wake \(kind) ", times: count + 1)
    }

    @Test(
        "B12 B13 a wake reaches an application that is dead, suspended, in the background or active; not one ended by force"
    )
    func states() async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0], ["--limit", "idle=5"])
        try install("one", in: daemon)
        for kind in Self.kinds where kind != .session {
            try await wake("one", for: kind, in: daemon)
            await daemon.expectState(.suspended, of: "one")
            try await wake("one", for: kind, in: daemon)
            await daemon.expectState(.suspended, of: "one")
            try await daemon.resume("one")
            try await wake("one", for: kind, in: daemon)
            #expect(try daemon.status(of: "one")?.state == .active)
            try daemon.perform(.quit(identifier: "one", force: true))
            await daemon.expectState(.notRunning, of: "one")
            let refusal = LifecycleEffect.Refusal.forceQuit.explanation
            #expect(
                try daemon.request(.wake(identifier: "one", kind: kind)) == [.refused(.lifecycle, message: refusal)]
            )
            // Only the user starts it again.
            try daemon.perform(.launch(identifier: "one", url: nil, inBackground: false))
            await daemon.expectState(.active, of: "one")
            try daemon.perform(.quit(identifier: "one", force: false))
            await daemon.expectState(.notRunning, of: "one")
        }
        try install("busy", ["--task", "t=-1"], in: daemon)
        try daemon.perform(.launch(identifier: "busy", url: nil, inBackground: false))
        await daemon.expectState(.active, of: "busy")
        try daemon.perform(.background(identifier: "busy"))
        await daemon.expectState(.background, of: "busy")
        for kind in Self.kinds where kind != .session { try await wake("busy", for: kind, in: daemon) }
        #expect(try daemon.status(of: "busy")?.state == .background)
        await daemon.finish()
    }

    @Test("B12 a wake that is not completed in its time is expired, then costs the process its life: 0x2182bad4")
    func overdue() async throws {
        let limits = ["--limit", "idle=5", "--limit", "wake=300", "--limit", "expiration=1500"]
        let daemon = try await Daemon(ControlGroups.kinds[0], limits)
        // It never completes a wake.
        try daemon.install("one")
        try daemon.perform(.wake(identifier: "one", kind: .fetch))
        await daemon.expectOutput("one expire\n")
        await daemon.expectState(.notRunning, of: "one")
        #expect(try daemon.status(of: "one")?.lastExit?.contains("0x2182bad4") == true)
        #expect(
            try daemon.lines(.log(identifier: "one", count: 50)).contains { $0.contains("was not completed in time") }
        )
        // One that ends its work at the expiration lives on.
        try install("two", ["--hold-wakes"], in: daemon)
        try daemon.perform(.wake(identifier: "two", kind: .push))
        await daemon.expectOutput("wake cancelled\n")
        await daemon.expectState(.suspended, of: "two")
        await daemon.finish()
    }
}
