import EideticTestSupport
import EideticTransfer
import Glibc
import Testing

@Suite("Two supervisors with one directory of transfers", .serialized, .timeLimit(.minutes(2)))
struct TwoSupervisorsTests {
    @Test("B14 the second of two supervisors leaves the transfer process alone, and its log says why it has none")
    func second() async throws {
        let supervised = try await SupervisedPlace(), place = supervised.place
        let session = try BackgroundURLSession(configuration: place.configuration("books"))
        // The answer comes from the process that the first supervisor has started.
        #expect(try await session.allTasks.isEmpty)
        let processes = place.processes
        #expect(processes.count == 1)
        let other = try supervised.makeSupervisor(runtimeDirectory: "other", transferSocket: "other-socket")
        let path = place.directory.path(of: "service/supervisor")
        #expect(await other.waitForOutput("\(path), which another supervisor has"), "\(other.errorsSoFar)")
        #expect(place.processes == processes, "\(supervised.supervisor?.errorsSoFar ?? "")\(other.errorsSoFar)")
        #expect(try await session.allTasks.isEmpty)
        // The first one starts it again; the second one still does not.
        place.killService()
        let server = try NumberedServer(size: 1_000)
        let task = try session.downloadTask(with: .init(url: "\(server.url)/1"))
        task.resume()
        try await task.value(movingFileTo: place.directory.path(of: "file"))
        #expect(place.processes.count == 1)
        #expect(other.errorsSoFar.ranges(of: "which another supervisor has").count == 1)
        session.invalidateAndCancel()
        other.kill(SIGTERM)
        #expect(await other.waitUntilExit().status == .exited(0))
        await supervised.finish()
    }

    @Test("B14 after the end of the first supervisor the second one has the transfer process")
    func succession() async throws {
        let supervised = try await SupervisedPlace()
        let other = try supervised.makeSupervisor(runtimeDirectory: "other", transferSocket: "other-socket")
        #expect(await other.waitForOutput("which another supervisor has"), "\(other.errorsSoFar)")
        await supervised.killSupervisor()
        #expect(await other.waitForOutput("the transfer process runs"), "\(other.errorsSoFar)")
        other.kill(SIGTERM)
        supervised.waitForEnd(of: other)
        // It outlives its supervisor until it is idle, and keeps the output open.
        supervised.place.killService()
        #expect(await other.waitUntilExit().status == .exited(0))
        await supervised.finish()
    }
}
