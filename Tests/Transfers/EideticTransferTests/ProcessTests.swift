import EideticCore
import EideticFetch
import EideticTestSupport
import EideticTransfer
import Glibc
import Testing

/// Sessions with the real transfer process.
@Suite("Sessions and the transfer process", .serialized, .timeLimit(.minutes(2)))
struct ProcessTests {
    private let place: ServicePlace

    init() throws { place = try ServicePlace() }

    @Test("B14 the transfer process is started on demand, and downloads a file; it goes on after it was killed")
    func startsOnDemand() async throws {
        let server = try NumberedServer(size: 100_000)
        let session = try BackgroundURLSession(configuration: place.configuration("on-demand"))
        #expect(try await session.allTasks.isEmpty)
        for round in 1...3 {
            let task = try session.downloadTask(with: .init(url: "\(server.url)/\(round)"))
            task.resume()
            #expect(try await task.value(movingFileTo: place.directory.path(of: "file")).statusCode == 200)
            #expect(task.progress.completed == 100_000)
            #expect(place.killService())
        }
        session.invalidateAndCancel()
        for await event in session.events { if case .didBecomeInvalid(nil) = event { break } }
    }

    @Test("B14 an upload of a file arrives byte for byte")
    func uploads() async throws {
        let received = Guarded<[String]>([])
        let origin = try ScriptedOrigin { request in
            received.withLock { $0.append("\(request.method) \(request.headers["content-length"] ?? "-")") }
            return [.response(201, body: Array("stored".utf8))]
        }
        let path = place.directory.path(of: "upload")
        try FileSystem().replaceContents(of: path, with: [])
        let file = try FileSystem().open(path, flags: O_WRONLY)
        try FileSystem().truncate(file, to: 5_000)
        let session = try BackgroundURLSession(configuration: place.configuration("upload"))
        let task = try session.uploadTask(with: .init(url: "\(origin.url)/put"), fromFile: path)
        task.resume()
        #expect(try await task.value.statusCode == 201)
        #expect(received.withLock { $0 } == ["PUT 5000"])
        let missing = try session.uploadTask(with: .init(url: "\(origin.url)/put"), fromFile: "/missing/file")
        missing.resume()
        let error = await #expect(throws: EideticError.self) { try await missing.waitUntilAccepted() }
        #expect(error?.code == .notFound)
        session.invalidateAndCancel()
    }

    @Test("B14 an upload survives a stop of the transfer process while its file is being copied", arguments: 0..<3)
    func stopDuringCopy(_ round: Int) async throws {
        let received = Guarded<[String]>([])
        let origin = try ScriptedOrigin { request in
            received.withLock { $0.append(request.headers["content-length"] ?? "-") }
            return [.response(201)]
        }
        let size = 192 << 20, path = place.directory.path(of: "upload")
        let file = try FileSystem().open(path, flags: O_RDWR | O_CREAT)
        try FileSystem().allocate(file, from: 0, count: size)
        try FileSystem().truncate(file, to: size)
        let session = try BackgroundURLSession(configuration: place.configuration("stopped"))
        let task = try session.uploadTask(with: .init(url: "\(origin.url)/put"), fromFile: path)
        task.resume()
        try await eventually("a copy") { !copies.isEmpty }
        for process in place.processes { kill(process, SIGTERM) }
        #expect(try await task.value.statusCode == 201)
        #expect(received.withLock { $0 } == ["\(size)"])
        session.invalidateAndCancel()
    }

    /// The copies of files that the transfer process is making.
    private var copies: [String] {
        let files = FileSystem(), root = place.directory.path(of: "service")
        let applications = ((try? files.entryNames(in: root)) ?? []).filter { $0.utf8.count == 32 }
        return applications.flatMap { (try? files.entryNames(in: "\(root)/\($0)/uploads")) ?? [] }.filter {
            $0.hasPrefix("copy-")
        }
    }

    @Test("B14 a transfer process that refuses its directory says why, to every client")
    func refusedDirectory() async throws {
        let path = place.directory.path(of: "service")
        try FileSystem().makeDirectory(path)
        chmod(path, 0o777)
        for identifier in ["first", "second"] {
            let session = try BackgroundURLSession(configuration: place.configuration(identifier))
            let error = await #expect(throws: EideticError.self) { try await session.allTasks }
            let reason = "\(path) may be written to by others (mode 777)"
            #expect(error?.message.contains(reason) == true, "\(error as Any)")
        }
    }

    @Test("B14 clients with different sockets use the transfer process that has the directory")
    func oneDirectory() async throws {
        var other = place.location
        other.socketPath = place.directory.path(of: "other")
        var services: [TransferClient] = []
        for location in [place.location, other, place.location] {
            let connection = try #require(try await TransferProcess.connect(at: location, application: "a"))
            try await connection.openSession(TransferSessionConfiguration(identifier: "\(services.count)"))
            services.append(connection)
        }
        #expect(place.processes.count == 1)
        for session in ["0", "1", "2"] { #expect(try await services[1].transfers(in: session).isEmpty) }
        for service in services { service.close() }
    }

    @Test("B14 one process for each identifier: a second one gets inUse, and the identifier when the first has ended")
    func oneProcess() async throws {
        let server = try NumberedServer(size: 1_000)
        let probe = try place.startProbe("shared", url: server.url, count: 1, mode: "hold")
        #expect(await probe.waitForOutput("accepted"))
        let delegate = RecordingDelegate()
        let configuration = place.configuration("shared", application: "probe")
        let refused = try BackgroundURLSession(configuration: configuration, delegate: delegate)
        let error = await #expect(throws: EideticError.self) { try await refused.allTasks }
        #expect(error?.code == .inUse)
        await delegate.waitForCalls(1)
        #expect(await delegate.calls == [.invalid(.inUse)])
        probe.kill()
        _ = await probe.waitUntilExit()
        let other = RecordingDelegate()
        let session = try BackgroundURLSession(configuration: configuration, delegate: other)
        #expect(try await session.allTasks.map(\.taskDescription) == ["0"])
        // What an application never acknowledged is delivered to the next one.
        await other.waitForCalls(2)
        session.invalidateAndCancel()
    }

    @Test("B14 callbacks that block for long lose no event")
    func blockingCallbacks() async throws {
        let requests = Monitor(0), delegate = RecordingDelegate(), place = place
        let server = try NumberedServer(size: 2_000) {
            requests.withLock { $0 += 1 }
            requests.broadcast()
        }
        let session = try BackgroundURLSession(configuration: place.configuration("blocking"), delegate: delegate)
        await MainActor.run {
            delegate.hook = { [unowned delegate] _ in
                // The first one blocks until all files were requested, and some see the end of the process.
                if delegate.calls.isEmpty { requests.wait { $0 >= 20 ? () : nil } }
                if [9, 19, 29].contains(delegate.calls.count) { place.killService() }
            }
        }
        for number in 0..<20 { try session.downloadTask(with: .init(url: "\(server.url)/\(number)")).resume() }
        await delegate.wait { $0.endedTasks.count >= 20 }
        let ends = await delegate.endedTasks
        #expect(Set(ends).count == 20 && ends.count == 20)
        session.invalidateAndCancel()
    }

    @Test("B14 resume data continues a cancelled download where it broke off")
    func resumes() async throws {
        let gate = Gate(), ranges = Guarded<[String?]>([])
        let body = NumberedServer.body(of: "/r", version: 0, size: 200_000)
        let origin = try ScriptedOrigin { request in
            let range = request.headers["range"]
            ranges.withLock { $0.append(range) }
            guard range != nil else {
                let head = "HTTP/1.1 200 OK\r\nETag: \"r\"\r\nContent-Length: \(body.count)\r\n\r\n"
                return [.send(Array(head.utf8) + body[..<120_000]), .wait(gate)]
            }
            let rest = body[120_000...]
            let head =
                "HTTP/1.1 206 Partial Content\r\nETag: \"r\"\r\nContent-Range: bytes 120000-199999/200000\r\n"
                + "Content-Length: \(rest.count)\r\n\r\n"
            return [.send(Array(head.utf8) + rest)]
        }
        let delegate = RecordingDelegate()
        let session = try BackgroundURLSession(configuration: place.configuration("resume"), delegate: delegate)
        let task = try session.downloadTask(with: .init(url: "\(origin.url)/r"))
        task.resume()
        let events = session.events.makeAsyncIterator()
        while let event = await events.next() {
            if case .didWriteData(_, let progress) = event, progress.completed == 120_000 { break }
        }
        let observer = Task { while await events.next() != nil {} }
        let data = try #require(await task.cancelByProducingResumeData())
        let continued = try session.downloadTask(withResumeData: data)
        continued.resume()
        let path = place.directory.path(of: "resumed")
        try await continued.value(movingFileTo: path)
        #expect(try FileSystem().contents(of: path) == body)
        #expect(ranges.withLock { $0 } == [nil, "bytes=120000-"])
        observer.cancel()
        session.invalidateAndCancel()
    }

    @Test("L06 B14 a load is handed over, its application killed, and the image shown from disk by the next one")
    func imageOfKilledApplication() async throws {
        let gate = Gate(), png = ImageTransferTests.png
        let origin = try ScriptedOrigin { request in
            guard request.headers["user-agent"]?.hasPrefix("eidetic/") == true else { return [.close] }
            return [.wait(gate), .response(200, headers: ["Cache-Control": "max-age=600"], body: png)]
        }
        let first = try place.startProbe("images", url: "\(origin.url)/image.png", count: 0, mode: "image")
        #expect(await first.waitForOutput("cancelled"))
        first.kill()
        _ = await first.waitUntilExit()
        // One request of the application, and one of the transfer process.
        await origin.waitForRequests(count: 2)
        gate.open()
        let second = try place.startProbe("images", url: "\(origin.url)/image.png", count: 0, mode: "show")
        let result = await second.waitUntilExit()
        #expect(result.status == .exited(0), "\(result.outputText) \(result.errorText)")
        #expect(result.outputText.contains("1x1 from disk"))
        #expect(origin.requests.count == 2)
    }

    @Test("B14 after a forced end the transfers are cancelled with that reason")
    func forceQuit() async throws {
        let never = Gate()
        let origin = try ScriptedOrigin { _ in [.head(200, headers: ["Content-Length": "10"]), .wait(never)] }
        let supervisor = try Supervisor(place: place)
        let delegate = RecordingDelegate()
        let session = BackgroundURLSession(
            configuration: .init(identifier: "forced"),
            delegate: delegate,
            provider: supervisor
        )
        let tasks = try (0..<3).map { try session.downloadTask(with: .init(url: "\(origin.url)/\($0)")) }
        for task in tasks { task.resume() }
        for task in tasks { try await task.waitUntilAccepted() }
        await origin.waitForRequests(count: 3)
        let events = session.events
        try supervisor.send(.forceQuit(application: "forced-application"))
        var messages: [String] = []
        for await event in events {
            if case .didComplete(_, let error?) = event { messages.append("\(error)") }
            if messages.count == 3 { break }
        }
        #expect(messages == [String](repeating: "cancelled: cancelled: the user has quit the application", count: 3))
        #expect(tasks.allSatisfy { $0.state == .completed })
        session.disconnect()
    }

    @Test("B14 without the transfer process a session becomes invalid, with an error that names the program")
    func notInstalled() async throws {
        var configuration = place.configuration("not-installed")
        configuration.service.program = .path(place.directory.path(of: "eidetic-transferd"))
        let delegate = RecordingDelegate()
        // The delegate is told on the main actor, so not before the task is there.
        let (session, task) = try await MainActor.run {
            let session = try BackgroundURLSession(configuration: configuration, delegate: delegate)
            return (session, try session.downloadTask(with: .init(url: "http://127.0.0.1:1/1")))
        }
        task.resume()
        let failure = await #expect(throws: EideticError.self) { try await session.allTasks }
        #expect(failure?.code == .notFound && failure?.message.contains("eidetic-transferd") == true)
        await #expect(throws: EideticError.self) { try await task.waitUntilAccepted() }
        await delegate.waitForCalls(1)
        #expect(await delegate.calls == [.invalid(.notFound)])
        #expect(place.processes.isEmpty)
    }

    @Test("B14 a session has thousands of tasks, each of which ends once")
    func manyTasks() async throws {
        let count = Torture.repetitions(400, full: 9_900)
        let server = try NumberedServer(size: 8), delegate = RecordingDelegate()
        let session = try BackgroundURLSession(configuration: place.configuration("many"), delegate: delegate)
        for number in 0..<count { try session.downloadTask(with: .init(url: "\(server.url)/\(number)")).resume() }
        await delegate.wait { $0.endedTasks.count >= count }
        await session.waitUntilAcknowledged()
        let ends = await delegate.endedTasks
        #expect(ends.count == count && Set(ends).count == count)
        #expect(try await session.allTasks.isEmpty)
        session.invalidateAndCancel()
    }
}

/// The supervisor's end of a transfer process that is started for it.
private final class Supervisor: TransferServiceProvider {
    private let socket: PacketSocket

    init(place: ServicePlace) throws {
        let (own, other) = try PacketSocket.makePair()
        socket = own
        let words = ["--supervisor-descriptor", "3", "--directory", place.directory.path(of: "service")]
        try TransferProcess.start(ServicePlace.service, arguments: words, passing: other)
    }

    func send(_ message: TransferSupervision, descriptors: [Int32] = []) throws {
        while try !socket.send(WireWriter.encode(message), descriptors: descriptors) {
            var polled = pollfd(fd: socket.rawValue, events: Int16(POLLOUT), revents: 0)
            poll(&polled, 1, -1)
        }
    }

    func connect() async throws(EideticError) -> TransferClient {
        do {
            let (client, server) = try PacketSocket.makePair()
            try send(.connection(application: "forced-application"), descriptors: [server.rawValue])
            return try TransferClient(socket: client, application: "ignored")
        } catch {
            throw EideticError(.connectionRefused, message: "\(error)")
        }
    }
}
