import EideticCore
import EideticFetch
import EideticHTTP
import EideticTestSupport
import Glibc
import Testing

@Suite("Downloads to files", .timeLimit(.minutes(1)))
struct SaveTests {
    private let directory: TemporaryDirectory
    private let image = Fixture.image(length: 200_000)

    init() throws { directory = try TemporaryDirectory(named: "save") }

    private var names: [String] { ((try? FileSystem().entryNames(in: directory.path)) ?? []).sorted() }

    private func save(_ url: String, with downloader: Downloader = Downloader()) async throws(EideticError)
        -> FetchResponse
    {
        try await downloader.save(FetchRequest(url: url), to: directory.path(of: "a.png"))
    }

    @Test("L02 a body is written as it arrives, to a file that gets its name when it is complete")
    func whileItComes() async throws {
        let (gate, image) = (Gate(), image)
        let origin = try ScriptedOrigin { request in
            if request.path == "/moved" { return [.response(302, headers: ["Location": "/a.png"])] }
            let half = image.count / 2
            return [
                .head(200, headers: ["Content-Length": "\(image.count)"]), .send(Array(image[..<half])), .wait(gate),
                .send(Array(image[half...])),
            ]
        }
        let (files, path) = (FileSystem(), directory.path)
        let request = try FetchRequest(url: origin.url + "/moved")
        let response = try await Downloader().save(request, to: directory.path(of: "a.png")) { progress in
            guard progress.received == image.count / 2 else { return }
            let names = (try? files.entryNames(in: path)) ?? []
            let size = names.first.flatMap { try? files.status(of: "\(path)/\($0)") }?.size
            #expect(names.count == 1 && names != ["a.png"] && size == image.count / 2)
            gate.open()
        }
        #expect(response.status == 200 && response.bytes.isEmpty)
        #expect(response.metrics.bodyBytes == image.count)
        #expect(try directory.contents(of: "a.png") == image)
        #expect(names == ["a.png"])
    }

    @Test("L04 no fault leaves a file behind, or modifies an existing one", arguments: FaultTests.faults)
    func faults(_ fault: FaultTests.Fault) async throws {
        let origin = try ScriptedOrigin { _ in fault.steps }
        try directory.write([1, 2, 3], to: "a.png")
        var request = try FetchRequest(url: origin.url)
        request.byteLimit = .mebibytes(10)
        let path = directory.path(of: "a.png")
        let error = await failure { [request] () async throws(EideticError) in
            try await Downloader().save(request, to: path)
        }
        #expect(error?.code == fault.code)
        #expect(names == ["a.png"])
        #expect(try directory.contents(of: "a.png") == [1, 2, 3])
    }

    @Test(
        "C18 a file that cannot be written fails the download, and leaves no file",
        arguments: [
            (SystemCall.open, ENOENT, EideticError.Code.notFound), (.open, EACCES, .permissionDenied),
            (.write, ENOSPC, .diskFull), (.rename, EIO, .fileFailure),
        ]
    )
    func fileFaults(_ call: SystemCall, number: Int32, code: EideticError.Code) async throws {
        let (image, plan) = (image, FaultPlan())
        let origin = try ScriptedOrigin { _ in [.response(200, headers: [:], body: image)] }
        // Before it, the description of a part is looked for, which there need not be.
        plan.fail(call, with: number, pathContaining: call == .open ? ".tmp" : nil)
        var configuration = Downloader.Configuration()
        configuration.fileSystem = FileSystem(observer: plan)
        let downloader = Downloader(configuration)
        let error = await failure { () async throws(EideticError) in try await save(origin.url, with: downloader) }
        #expect(error?.code == code)
        #expect(error?.message.contains(directory.path(of: "a.png")) == true)
        #expect(names == [])
        // The server did not fail, so the request is sent again.
        #expect(try await save(origin.url, with: downloader).status == 200)
        #expect(try directory.contents(of: "a.png") == image)
    }

    @Test("L24 an interrupted download to a file starts again, or resumes a stored partial body")
    func goesOn() async throws {
        let (image, count) = (image, Counter())
        let origin = try ScriptedOrigin { request in
            if request.headers["range"] != nil {
                let range = "bytes 100000-199999/200000"
                return [
                    .response(206, headers: ["ETag": "\"v1\"", "Content-Range": range], body: Array(image[100_000...]))
                ]
            }
            let head: ScriptedOrigin.Step = .head(200, headers: ["ETag": "\"v1\"", "Content-Length": "200000"])
            return count.next() < 2 ? [head, .send(Array(image[..<100_000])), .close] : [head, .send(image)]
        }
        var configuration = Downloader.Configuration()
        configuration.partialDirectory = directory.path(of: "partial")
        configuration.retryClock = ManualRetryClock()
        let error = await failure { [configuration] () async throws(EideticError) in
            try await Downloader(configuration).fetch(url: origin.url)
        }
        #expect(error?.code == .lengthMismatch)
        #expect(try await save(origin.url, with: Downloader(configuration)).metrics.resumedBytes == 100_000)
        #expect(try directory.contents(of: "a.png") == image)
        configuration.alwaysRetries = true
        #expect(try await save(origin.url, with: Downloader(configuration)).metrics.attemptCount == 2)
        #expect(try directory.contents(of: "a.png") == image)
    }

    @Test("L24 a stored partial body is continued by downloads to a file, also after another interruption")
    func beginningStays() async throws {
        let (image, count) = (image, Counter())
        let origin = try ScriptedOrigin { request in
            let number = count.next()
            guard let range = request.headers["range"] else {
                let head: ScriptedOrigin.Step = .head(200, headers: ["ETag": "\"v1\"", "Content-Length": "200000"])
                return [head, .send(Array(image[..<100_000])), .close]
            }
            let start = range == "bytes=100000-" ? 100_000 : 150_000
            let fields: KeyValuePairs = [
                "ETag": "\"v1\"", "Content-Range": "bytes \(start)-199999/200000",
                "Content-Length": "\(200_000 - start)",
            ]
            return [.head(206, headers: fields), .send(Array(image[start..<(number < 2 ? 150_000 : 200_000)])), .close]
        }
        var configuration = Downloader.Configuration()
        configuration.partialDirectory = directory.path(of: "partial")
        let downloader = Downloader(configuration)
        _ = await failure { () async throws(EideticError) in try await downloader.fetch(url: origin.url) }
        let error = await failure { () async throws(EideticError) in try await save(origin.url, with: downloader) }
        #expect(error?.code == .lengthMismatch)
        #expect(try await save(origin.url, with: downloader).metrics.resumedBytes == 150_000)
        #expect(try directory.contents(of: "a.png") == image)
    }

    @Test("L02 callers of the same file share one download, and no file is left if they all cancel")
    @MainActor
    func shares() async throws {
        let (gate, isThere) = (Gate(), Gate())
        let origin = try ScriptedOrigin { request in
            if request.path == "/other" { return [.response(200, headers: [:], body: Fixture.image())] }
            return [
                .head(200, headers: ["Content-Length": "1000"]), .send(Fixture.image(length: 10)), .wait(gate),
                .send(Fixture.imageRemainder(from: 10)),
            ]
        }
        let (downloader, request) = (Downloader(), try FetchRequest(url: origin.url))
        let first = directory.path(of: "a.png"), second = directory.path(of: "b.png")
        let tasks = [first, first, second].map { path in
            Task.immediate {
                try await downloader.save(request, to: path) { if $0.received > 0, path == second { isThere.open() } }
            }
        }
        #expect(downloader.jobCount == 2)
        await isThere.wait()
        tasks[2].cancel()
        await #expect(throws: EideticError.self) { try await tasks[2].value }
        // The engine completes this request after all earlier commands.
        _ = try await downloader.fetch(url: origin.url + "/other")
        gate.open()
        for task in tasks[..<2] { #expect(try await task.value.status == 200) }
        #expect(names == ["a.png"])
        #expect(origin.requests.count == 3)
    }

    @Test("L20 the file has the body that the hooks returned")
    func hooks() async throws {
        let image = image
        let origin = try ScriptedOrigin { _ in [.response(200, headers: [:], body: image.map { $0 ^ 7 })] }
        var configuration = Downloader.Configuration()
        configuration.decryptor = { bytes, _ in bytes.map { $0 ^ 7 } }
        #expect(try await save(origin.url, with: Downloader(configuration)).bytes == [])
        #expect(try directory.contents(of: "a.png") == image)
    }

    @Test("L02 after all callers have cancelled, a body from hooks does not replace the file")
    func leftWhileItIsWritten() async throws {
        let (gate, observer, image) = (Gate(), CancellingObserver(), image)
        let origin = try ScriptedOrigin { _ in [.wait(gate), .response(200, headers: [:], body: image)] }
        var configuration = Downloader.Configuration()
        configuration.decryptor = { bytes, _ in bytes }
        configuration.fileSystem = FileSystem(observer: observer)
        let (downloader, path) = (Downloader(configuration), directory.path(of: "a.png"))
        let request = try FetchRequest(url: origin.url)
        try directory.write([1, 2, 3], to: "a.png")
        let task = Task { try await downloader.save(request, to: path) }
        observer.task.withLock { $0 = task }
        gate.open()
        let result = await task.result
        #expect(throws: EideticError.self) { try result.get() }
        await observer.end.wait()
        #expect(observer.last.withLock { $0 } == .unlink)
        #expect(try directory.contents(of: "a.png") == [1, 2, 3])
    }

    /// Cancels a task while its file is written, and records the last system call.
    private final class CancellingObserver: SystemCallObserver {
        let task = Guarded<Task<FetchResponse, any Error>?>(nil)
        let last = Guarded<SystemCall?>(nil)
        let end = Gate()

        func willPerform(_ call: SystemCall, path: String?) -> Int32? {
            if call == .write { task.withLock { $0 }?.cancel() }
            guard call == .rename || call == .unlink else { return nil }
            last.withLock { $0 = call }
            end.open()
            return nil
        }
    }
}
