import EideticCore
import EideticSupervision
import EideticTestSupport
import EideticTransfer
import Glibc
import EideticLifecycle
import Testing

/// Applications under a real supervisor, which are woken for the events of their sessions.
@Suite("Wakes for the events of sessions", .serialized, .timeLimit(.minutes(2)))
struct WakeTests {
    /// A server whose files come when a gate is opened.
    private struct HeldServer {
        let gate = Gate()
        let origin: ScriptedOrigin

        init() throws {
            origin = try ScriptedOrigin { [gate] _ in [.wait(gate), .response(body: [1, 2, 3])] }
        }
    }

    @Test(
        "B14 a suspended application is woken when its transfers have ended, handles the events, and is suspended again"
    )
    func suspended() async throws {
        let server = try HeldServer(), supervised = try await SupervisedPlace()
        let supervisor = try #require(supervised.supervisor)
        try supervised.install(session: "books", url: server.origin.url, count: 3)
        try supervised.perform(.launch(identifier: SupervisedPlace.application, url: nil, inBackground: false))
        #expect(await supervisor.waitForOutput("accepted"))
        try supervised.perform(.background(identifier: SupervisedPlace.application))
        try await supervised.waitForState(.suspended)
        #expect(!supervised.output.contains("handle events"))
        server.gate.open()
        #expect(await supervisor.waitForOutput("finished events, woken"), "\(supervised.log)")
        try await supervised.waitForState(.suspended)
        let lines = supervised.output.split(separator: "\n").map(String.init)
        let wake = try #require(lines.firstIndex(of: "handle events of books"), "\(lines)")
        // The application knows why it was woken before it gets an event.
        #expect(Set(lines[(wake + 1)...].prefix(3)) == ["finished 0 true", "finished 1 true", "finished 2 true"])
        #expect(lines[(wake + 4)...] == ["finished events, woken"])
        #expect(supervised.log.contains("session wake"))
        await supervised.finish()
    }

    @Test("B14 an application that was killed is launched for the events of its session, and suspended afterwards")
    func dead() async throws {
        let server = try HeldServer(), supervised = try await SupervisedPlace()
        let supervisor = try #require(supervised.supervisor)
        try supervised.install(session: "books", url: server.origin.url, count: 2)
        try supervised.perform(.launch(identifier: SupervisedPlace.application, url: nil, inBackground: false))
        #expect(await supervisor.waitForOutput("accepted"))
        let process = try #require(try supervised.status?.process)
        kill(process, SIGKILL)
        try await supervised.waitForState(.notRunning)
        server.gate.open()
        #expect(await supervisor.waitForOutput("finished events, woken"), "\(supervised.log)")
        try await supervised.waitForState(.suspended)
        let lines = supervised.output.split(separator: "\n").map(String.init)
        #expect(lines.suffix(5).first == "launched for wake(EideticBackground.BackgroundWake.Kind.session)", "\(lines)")
        #expect(lines.suffix(4).first == "handle events of books")
        await supervised.finish()
    }

    @Test("B14 an application that ends each time it handles its events is given up, which why tells, until it is used")
    func givenUp() async throws {
        let server = try HeldServer(), supervised = try await SupervisedPlace()
        let supervisor = try #require(supervised.supervisor)
        try supervised.install(session: "books", url: server.origin.url, count: 1)
        try supervised.perform(.launch(identifier: SupervisedPlace.application, url: nil, inBackground: false))
        #expect(await supervisor.waitForOutput("accepted"))
        try supervised.place.directory.write([], to: "fault")
        kill(try #require(try supervised.status?.process), SIGKILL)
        try await supervised.waitForState(.notRunning)
        server.gate.open()
        for count in 1...5 {
            #expect(await supervisor.waitForOutput("handle events of books", times: count), "\(supervised.log)")
            try await supervised.waitForState(.notRunning)
            // The next transfer process announces the session without a pause.
            if count < 5 { supervised.place.killService() }
        }
        let lines = try supervised.why
        #expect(lines.contains { $0.contains("ended during 5 session wakes") }, "\(lines)")
        #expect(supervised.output.ranges(of: "handle events of books").count == 5)
        unlink(supervised.place.directory.path(of: "fault"))
        try supervised.perform(.launch(identifier: SupervisedPlace.application, url: nil, inBackground: false))
        #expect(await supervisor.waitForOutput("finished 0 true"), "\(supervised.log)")
        #expect(try !supervised.why.contains { $0.contains("session wakes") })
        await supervised.finish()
    }

    @Test("B14 an application whose program fails when it is launched for its events is launched again after a pause")
    func failingProgram() async throws {
        let server = try HeldServer(), supervised = try await SupervisedPlace()
        let supervisor = try #require(supervised.supervisor)
        let program = try supervised.install(session: "books", url: server.origin.url, count: 2, throughLink: true)
        try supervised.perform(.launch(identifier: SupervisedPlace.application, url: nil, inBackground: false))
        #expect(await supervisor.waitForOutput("accepted"))
        kill(try #require(try supervised.status?.process), SIGKILL)
        try await supervised.waitForState(.notRunning)
        // The transfer process is told that the wake has failed, and announces the session again.
        try supervised.replace(program, by: "#!/bin/sh\necho it is broken\nexit 1\n")
        server.gate.open()
        #expect(await supervisor.waitForOutput("it is broken"), "\(supervised.log)")
        try supervised.replace(program, by: nil)
        #expect(await supervisor.waitForOutput("finished events, woken"), "\(supervised.log)")
        try await supervised.waitForState(.suspended)
        await supervised.finish()
    }
}
