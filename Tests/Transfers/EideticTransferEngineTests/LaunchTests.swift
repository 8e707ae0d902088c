import EideticCore
import EideticFetch
import EideticTestSupport
import EideticTransfer
import EideticTransferEngine
import Glibc
import Testing

/// An engine on a thread of its own, and the applications that it wanted to be launched.
private final class EngineThread: Sendable {
    /// The sessions whose application was to be launched.
    final class Wakes: Sendable {
        private let sessions = Guarded<[String]>([])
        var all: [String] { sessions.withLock { $0 } }
        func add(_ session: String) { sessions.withLock { $0.append(session) } }
    }

    let wakes = Wakes()
    let woken = Gate()
    private let inbox = TransferInbox()
    private let stopped = Gate()
    static let application = "org.example.Test"

    init(_ directory: TemporaryDirectory) async {
        let started = Gate()
        let configuration = TransferEngineConfiguration(directory: directory.path(of: "transfers"))
        let (inbox, wakes, woken, stopped) = (inbox, wakes, woken, stopped)
        Thread.start(name: "engine") {
            do throws(EideticError) {
                let engine = try TransferEngine(configuration, inbox: inbox)
                engine.delivery.onWake = { _, session in
                    wakes.add(session)
                    woken.open()
                }
                started.open()
                engine.run()
            } catch {
                Issue.record(error)
                started.open()
            }
            stopped.open()
        }
        await started.wait()
    }

    func perform(_ command: TransferCommand, files: [UploadFile] = []) async -> TransferReply {
        await withCheckedContinuation { continuation in
            inbox.post { engine in
                engine.perform(command, of: Self.application, files: files) { reply in
                    continuation.resume(returning: reply)
                }
            }
        }
    }

    func forceQuit() async {
        inbox.post { $0.forceQuit(Self.application) }
        await settle()
    }

    /// Returns after the events so far were announced.
    func settle() async { for _ in 0..<2 { _ = await perform(.acknowledge([.max])) } }

    func stop() async {
        inbox.post { $0.stop() }
        await stopped.wait()
    }
}

@Suite("launches of applications for events", .timeLimit(.minutes(1)))
struct LaunchTests {
    private let session = TransferSessionConfiguration(identifier: "s")

    /// Starts an engine whose application has been quit by force with a transfer.
    private func forceQuitEngine(_ directory: TemporaryDirectory) async -> EngineThread {
        let engine = await EngineThread(directory)
        _ = await engine.perform(.openSession(session))
        _ = await engine.perform(.add([TransferRequest(download: "http://127.0.0.1:1/a")], session: "s"))
        await engine.forceQuit()
        return engine
    }

    @Test("B14 an application that was quit by force is launched again after it was used again")
    func applicationsAreLaunchedAfterTheyWereUsed() async throws {
        let origin = try ScriptedOrigin { _ in [.response(body: [1])] }
        let engine = await forceQuitEngine(try TemporaryDirectory())
        #expect(engine.wakes.all.isEmpty)
        _ = await engine.perform(.openSession(session))
        _ = await engine.perform(.add([TransferRequest(download: origin.url + "/a")], session: "s"))
        await engine.woken.wait()
        #expect(engine.wakes.all == ["s"])
        await engine.stop()
    }

    @Test("B14 an application that was quit by force is not launched when the transfer process starts again")
    func applicationsAreNotLaunchedForTheirEnd() async throws {
        let directory = try TemporaryDirectory()
        await forceQuitEngine(directory).stop()
        let engine = await EngineThread(directory)
        await engine.settle()
        #expect(engine.wakes.all.isEmpty)
        await engine.stop()
    }

    @Test("B14 files that do not belong to a command are refused and not copied")
    func foreignFilesAreRefused() async throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write([1, 2], to: "file")
        let engine = await EngineThread(directory)
        _ = await engine.perform(.openSession(session))
        let add = TransferCommand.add([TransferRequest(upload: path, to: "http://127.0.0.1:1/a")], session: "s")
        for (command, count) in [(TransferCommand.list(session: nil, after: TransferIdentifier(0)), 1), (add, 2)] {
            let files = try (0..<count).map { _ in try UploadFile(path: path) }
            let reply = await engine.perform(command, files: files)
            guard case .failed("invalidArgument", _) = reply else {
                Issue.record("\(reply)")
                continue
            }
        }
        await engine.stop()
        #expect(try uploads(in: directory).isEmpty)
    }

    @Test("B14 the copy of a file is removed if its upload cannot be recorded")
    func copiesOfRefusedUploadsAreRemoved() async throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write([1, 2], to: "file")
        let plan = FaultPlan()
        let fixture = try await ServiceFixture(directory: directory) { $0.fileSystem = FileSystem(observer: plan) }
        plan.fail(.pwrite, with: ENOSPC)
        await #expect(throws: EideticError.self) {
            _ = try await fixture.add(TransferRequest(upload: path, to: "http://127.0.0.1:1/a"))
        }
        #expect(try uploads(in: directory).isEmpty)
    }

    private func uploads(in directory: TemporaryDirectory) throws -> [String] {
        let (files, root) = (FileSystem(), directory.path(of: "transfers"))
        return try files.entryNames(in: root).filter { $0.utf8.count == 32 }.flatMap {
            try files.entryNames(in: "\(root)/\($0)/uploads")
        }
    }
}
