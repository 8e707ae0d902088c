import EideticCore
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import Glibc
import EideticLifecycle
import Testing

@Suite("A supervisor that is killed while its applications are in all states", .serialized, .timeLimit(.minutes(60)))
struct KilledSupervisorTests {
    /// The state in which an application waits for the end of the test.
    private enum Role: Int, CaseIterable {
        /// Moves between foreground and suspension at random.
        case moving, library
        /// Stays in a callback until it receives SIGUSR1.
        case launching, resigning, entering, terminating
        case openTask, backgroundLaunch, suspended, notRunning
    }

    private struct Member {
        let name: String
        let role: Role
    }

    private static let options =
        [
            "launch", "callback", "background", "termination", "quit", "reconnection", "budget",
        ].flatMap { ["--limit", "\($0)=3600000"] } + ["--limit", "idle=5", "--message-rate", "1000"]

    @Test("B05 killed at random moments: nobody is lost, frozen for ever, or started twice", arguments: kinds)
    func kills(kind: FreezerKind) async throws {
        let daemon = try await Daemon(kind, Self.options)
        let members = (0..<Torture.repetitions(10, full: 50)).map { number in
            Member(name: "app\(number)", role: Role.allCases[number % Role.allCases.count])
        }
        try await prepare(members, in: daemon)
        let before = daemon.markedProcesses
        for member in members {
            #expect(before[member.name]?.count ?? 0 == (member.role == .notRunning ? 0 : 1), "\(member.name)")
        }
        var states: [LifecycleState: Int] = [:]
        let kills = Torture.repetitions(3, full: 200)
        for _ in 0..<kills {
            // Requests are under way when the supervisor dies; the moment is random.
            for member in members where [.moving, .library].contains(member.role) && Bool.random() {
                _ = try? daemon.request(
                    Bool.random() ? .background(identifier: member.name) : .foreground(identifier: member.name)
                )
            }
            RandomMoment.pass(within: .milliseconds(30))
            for status in (try? daemon.list()) ?? [] { states[status.state, default: 0] += 1 }
            try await daemon.replace()
            #expect(daemon.markedProcesses == before)
        }
        print("kills \(kills), applications \(members.count), states \(states)")
        try await release(members, in: daemon)
        await daemon.finish()
    }

    /// Brings each application into the state of its role.
    private func prepare(_ members: [Member], in daemon: Daemon) async throws {
        for member in members {
            switch member.role {
            case .moving, .suspended: try daemon.launch(member.name)
            case .library: _ = try daemon.launchApplication(member.name)
            case .launching: try daemon.launch(member.name, ["--wait", "launch"])
            case .resigning: try daemon.launch(member.name, ["--wait", "willResignActive"])
            case .entering: try daemon.launch(member.name, ["--wait", "didEnterBackground"])
            case .terminating: try daemon.launch(member.name, ["--wait", "willTerminate"])
            case .openTask: try daemon.launch(member.name, ["--task", "upload"])
            case .backgroundLaunch: try daemon.launch(member.name, inBackground: true)
            case .notRunning: try daemon.install(member.name)
            }
        }
        for member in members {
            switch member.role {
            case .launching: await daemon.expectOutput("\(member.name) launch\n")
            case .backgroundLaunch: await daemon.expectState(.suspended, of: member.name)
            case .notRunning: break
            default: await daemon.expectState(.active, of: member.name)
            }
        }
        for member in members {
            switch member.role {
            case .resigning: try await background(member, until: "willResignActive", in: daemon)
            case .entering: try await background(member, until: "didEnterBackground", in: daemon)
            case .openTask: try await background(member, until: "task upload", in: daemon)
            case .terminating:
                try daemon.perform(.quit(identifier: member.name, force: false))
                await daemon.expectOutput("\(member.name) willTerminate\n")
            case .suspended:
                try await daemon.suspend(member.name)
            default: break
            }
        }
    }

    private func background(_ member: Member, until line: String, in daemon: Daemon) async throws {
        try daemon.perform(.background(identifier: member.name))
        await daemon.expectOutput("\(member.name) \(line)\n")
    }

    /// Lets each application leave its state, and return to the foreground.
    private func release(_ members: [Member], in daemon: Daemon) async throws {
        for member in members {
            switch member.role {
            case .launching, .resigning, .entering, .terminating:
                kill(try #require(try daemon.status(of: member.name)?.process), SIGUSR1)
            default: break
            }
        }
        for member in members {
            switch member.role {
            case .launching: await daemon.expectState(.active, of: member.name)
            case .resigning, .entering, .suspended, .backgroundLaunch:
                await daemon.expectState(.suspended, of: member.name)
            case .openTask: await daemon.expectState(.background, of: member.name)
            case .terminating:
                // Its acknowledgement went to a supervisor that is dead: the next one asks again.
                await daemon.expectOutput("\(member.name) willTerminate\n", times: 2)
                kill(try #require(try daemon.status(of: member.name)?.process), SIGUSR1)
                await daemon.expectState(.notRunning, of: member.name)
            case .notRunning: await daemon.expectState(.notRunning, of: member.name)
            case .moving, .library: break
            }
        }
        for member in members where member.role != .terminating && member.role != .notRunning {
            let isAccepted = await daemon.waitForStatuses { _ in
                (try? daemon.request(.foreground(identifier: member.name))) == [.done]
            }
            #expect(isAccepted)
            await daemon.expectState(.active, of: member.name)
        }
    }
}
