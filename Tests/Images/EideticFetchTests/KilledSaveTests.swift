import EideticCore
import EideticFetch
import EideticHTTP
import EideticTestSupport
import Glibc
import Testing

/// Downloads to files by processes that are killed.
@Suite("Parts of killed processes", .timeLimit(.minutes(1)))
struct KilledSaveTests {
    private let directory: TemporaryDirectory
    private let image = Fixture.image(length: 4 << 20)

    init() throws { directory = try TemporaryDirectory(named: "killed") }

    private var names: [String] { ((try? FileSystem().entryNames(in: directory.path)) ?? []).sorted() }

    /// Creates an origin that sends `count` bytes and no more, unless a range is requested or it is told to be whole.
    private func origin(sending count: Int, isWhole: Counter = Counter()) throws -> ScriptedOrigin {
        let (image, hold) = (image, Gate())
        return try ScriptedOrigin { request in
            let start = request.headers["range"].flatMap { Int($0.dropFirst(6).dropLast()) } ?? 0
            let range = start == 0 ? "" : "Content-Range: bytes \(start)-\(image.count - 1)/\(image.count)\r\n"
            let status = start == 0 ? "200 OK" : "206 Partial Content"
            let head = "HTTP/1.1 \(status)\r\nETag: \"1\"\r\n\(range)Content-Length: \(image.count - start)\r\n\r\n"
            if start > 0 || isWhole.next() > 0 { return [.send(Array(head.utf8) + image[start...])] }
            return [.send(Array(head.utf8) + image[..<count]), .wait(hold)]
        }
    }

    private var probe: String {
        let program = realpath(CommandLine.arguments[0], nil).map { String(cString: $0) } ?? CommandLine.arguments[0]
        return (program.lastIndex(of: "/").map { String(program[..<$0]) } ?? ".") + "/EideticFetchProbe"
    }

    private func save(_ url: String, fields: [String: String] = [:]) async throws -> FetchResponse {
        var request = try FetchRequest(url: url)
        for (name, value) in fields { request.headers[name] = value }
        return try await Downloader(Downloader.Configuration()).save(request, to: directory.path(of: "a.png"))
    }

    /// The size of the part that a process writes; `nil` if there is none.
    private var partSize: Int? {
        names.first { $0.hasSuffix(".tmp") }.flatMap { try? FileSystem().status(of: directory.path(of: $0)).size }
    }

    /// Lets another process save the file until it has written `count` bytes.
    private func startSaving(_ url: String, until count: Int) async throws -> Subprocess {
        let list = Array("\(url) \(directory.path(of: "a.png"))\n".utf8)
        let process = try Subprocess(probe, arguments: ["save", "1"], input: list)
        try await eventually("\(count) bytes of the part", value: { partSize ?? 0 }, until: { $0 >= count })
        return process
    }

    private func startAndKill(_ url: String, after count: Int) async throws {
        let process = try await startSaving(url, until: count)
        process.kill()
        _ = await process.waitUntilExit()
    }

    @Test("L24 a process that is killed loses nothing of a part: the next one continues it")
    func partsAreContinued() async throws {
        let count = (3 << 20) + 777
        let origin = try origin(sending: count)
        try await startAndKill(origin.url, after: count)
        #expect(names.contains("a.png.eidetic-writing"))
        #expect(try await save(origin.url).metrics.resumedBytes == count)
        #expect(origin.requests.map { $0.headers["range"] } == [nil, "bytes=\(count)-"])
        #expect(origin.requests[1].headers["if-range"] == "\"1\"")
        #expect(try directory.contents(of: "a.png") == image)
        #expect(names == ["a.png"])
    }

    @Test(
        "L24 a part has a least size before it is described",
        arguments: [((1 << 20) - 1, false), (1 << 20, true), ((1 << 20) + 1, true)]
    )
    func leastSize(_ count: Int, isContinued: Bool) async throws {
        let origin = try origin(sending: count)
        let process = try await startSaving(origin.url, until: count)
        // Written on the thread that has written the bytes, just after them.
        if isContinued {
            try await eventually("a description", value: { names }, until: { $0.contains("a.png.eidetic-writing") })
        }
        process.kill()
        _ = await process.waitUntilExit()
        #expect(names.contains("a.png.eidetic-writing") == isContinued)
    }

    @Test("L24 the part of a process that lives is left alone")
    func writersAreLeftAlone() async throws {
        let origin = try origin(sending: 2 << 20)
        let process = try await startSaving(origin.url, until: 2 << 20)
        #expect(try await save(origin.url).metrics.resumedBytes == 0)
        #expect(try directory.contents(of: "a.png") == image)
        #expect(partSize == 2 << 20)
        process.kill()
        _ = await process.waitUntilExit()
    }

    private enum Fault: CaseIterable { case otherFields, otherFile, otherBoot, missingFile, noDescription, directory }

    @Test("L24 a part of another request, boot or file is not continued", arguments: Fault.allCases)
    private func foreignPartsAreNotContinued(_ fault: Fault) async throws {
        let origin = try origin(sending: 2 << 20)
        try await startAndKill(origin.url, after: 2 << 20)
        let part = directory.path(of: try #require(names.first { $0.hasSuffix(".tmp") }))
        let description = directory.path(of: "a.png.eidetic-writing")
        switch fault {
        case .otherFields: break
        case .otherFile:
            rename(part, part + "2")
            try FileSystem().replaceContents(of: part, with: UnsafeRawBufferPointer(start: nil, count: 0))
        case .missingFile: unlink(part)
        case .otherBoot:
            var lines = String(decoding: try FileSystem().contents(of: description), as: UTF8.self)
                .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            lines[1] = "another"
            try directory.write(Array(lines.joined(separator: "\n").utf8), to: "a.png.eidetic-writing")
        case .noDescription: try directory.write(Array("eidetic-writing 1\n".utf8), to: "a.png.eidetic-writing")
        case .directory:
            unlink(description)
            mkdir(description, 0o700)
        }
        let fields = fault == .otherFields ? ["Authorization": "Bearer x"] : [:]
        #expect(try await save(origin.url, fields: fields).metrics.resumedBytes == 0)
        #expect(origin.requests.map { $0.headers["range"] } == [nil, nil])
        #expect(try directory.contents(of: "a.png") == image)
    }
}
