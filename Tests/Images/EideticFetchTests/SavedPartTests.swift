import EideticCore
import EideticFetch
import EideticHTTP
import EideticTestSupport
import Glibc
import Testing

@Suite("Parts of saved files", .timeLimit(.minutes(1)))
struct SavedPartTests {
    private let directory: TemporaryDirectory
    private let image = Fixture.image(length: 200_000)
    private let time = ManualTime(now: SystemTime().now)

    init() throws { directory = try TemporaryDirectory(named: "parts") }

    private var names: [String] { ((try? FileSystem().entryNames(in: directory.path)) ?? []).sorted() }

    /// Creates an origin that breaks off after `count` bytes unless a range is requested, or it is told to be whole.
    private func origin(breakingAfter count: Int, isWhole: Counter? = nil, tag: String? = "\"1\"") throws
        -> ScriptedOrigin
    {
        let image = image
        return try ScriptedOrigin { request in
            let fields: [HTTPHeaders.Field] = tag.map { [HTTPHeaders.Field(name: "ETag", value: $0)] } ?? []
            let lines = fields.map { "\($0.name): \($0.value)\r\n" }.joined()
            if let range = request.headers["range"], request.headers["if-range"] == tag {
                let start = Int(range.dropFirst(6).dropLast()) ?? 0
                let head =
                    "HTTP/1.1 206 Partial Content\r\n\(lines)Content-Length: \(image.count - start)\r\n"
                    + "Content-Range: bytes \(start)-\(image.count - 1)/\(image.count)\r\n\r\n"
                return [.send(Array(head.utf8) + image[start...])]
            }
            let head = "HTTP/1.1 200 OK\r\n\(lines)Content-Length: \(image.count)\r\n\r\n"
            if let isWhole, isWhole.next() > 0 { return [.send(Array(head.utf8) + image)] }
            return [.send(Array(head.utf8) + image[..<count]), .close]
        }
    }

    private func save(_ url: String, to name: String = "a.png", fields: HTTPHeaders = [:]) async -> FetchResponse? {
        var configuration = Downloader.Configuration()
        configuration.time = time
        guard var request = try? FetchRequest(url: url) else { return nil }
        request.headers = fields
        return try? await Downloader(configuration).save(request, to: directory.path(of: name))
    }

    @Test("L24 a body that breaks off is kept beside the file, and another downloader continues it")
    func partsAreContinued() async throws {
        let origin = try origin(breakingAfter: 100_000)
        try directory.write([1, 2, 3], to: "a.png")
        #expect(await save(origin.url) == nil)
        #expect(names == ["a.png", "a.png.eidetic-partial"])
        #expect(try directory.contents(of: "a.png") == [1, 2, 3])
        #expect(try FileSystem().status(of: directory.path(of: "a.png.eidetic-partial")).permissions == 0o600)
        #expect(await save(origin.url)?.metrics.resumedBytes == 100_000)
        #expect(origin.requests[1].headers["range"] == "bytes=100000-")
        #expect(try directory.contents(of: "a.png") == image)
        #expect(names == ["a.png"])
        let mask = umask(0o022)
        umask(mask)
        #expect(try FileSystem().status(of: directory.path(of: "a.png")).permissions == 0o644 & ~mask)
    }

    @Test("L24 retries of one save continue the part as well, also when it breaks off again")
    func retriesContinue() async throws {
        let image = image
        let origin = try ScriptedOrigin { request in
            let start = request.headers["range"].flatMap { Int($0.dropFirst(6).dropLast()) } ?? 0
            let end = min(start + 80_000, image.count)
            let range = start == 0 ? "" : "Content-Range: bytes \(start)-\(image.count - 1)/\(image.count)\r\n"
            let status = start == 0 ? "200 OK" : "206 Partial Content"
            let head = "HTTP/1.1 \(status)\r\nETag: \"1\"\r\n\(range)Content-Length: \(image.count - start)\r\n\r\n"
            return [.send(Array(head.utf8) + image[start..<end])] + (end < image.count ? [.close] : [])
        }
        var configuration = Downloader.Configuration()
        configuration.retryClock = ManualRetryClock()
        configuration.alwaysRetries = true
        let path = directory.path(of: "a.png")
        let response = try await Downloader(configuration).save(FetchRequest(url: origin.url), to: path)
        #expect(response.metrics.attemptCount == 3 && response.metrics.resumedBytes == 160_000)
        #expect(try directory.contents(of: "a.png") == image && names == ["a.png"])
    }

    @Test("L24 parts have a least size", arguments: [(65_535, false), (65_536, true), (65_537, true)])
    func smallPartsAreRemoved(_ count: Int, isKept: Bool) async throws {
        let origin = try origin(breakingAfter: count)
        #expect(await save(origin.url) == nil && origin.requests.count == 1)
        #expect(names == (isKept ? ["a.png.eidetic-partial"] : []))
    }

    @Test("L24 a body without a strong validator is not kept", arguments: [nil, "W/\"1\""])
    func weakValidatorsAreNotKept(_ tag: String?) async throws {
        let origin = try origin(breakingAfter: 100_000, tag: tag)
        #expect(await save(origin.url) == nil && origin.requests.count == 1)
        #expect(names == [])
    }

    private enum Fault: CaseIterable {
        case otherFields, otherMode, secondLink, truncated, longer, symbolicLink, directory
    }

    @Test("L24 a part of another request, or that was changed, is not continued", arguments: Fault.allCases)
    private func foreignPartsAreNotContinued(_ fault: Fault) async throws {
        let origin = try origin(breakingAfter: 100_000, isWhole: Counter())
        let part = directory.path(of: "a.png.eidetic-partial")
        #expect(await save(origin.url) == nil)
        switch fault {
        case .otherFields: break
        case .otherMode: chmod(part, 0o644)
        case .secondLink: link(part, directory.path(of: "other"))
        case .truncated: truncate(part, 99_000)
        case .longer:
            try directory.write(directory.contents(of: "a.png.eidetic-partial") + [48], to: "a.png.eidetic-partial")
        case .symbolicLink:
            rename(part, directory.path(of: "other"))
            symlink(directory.path(of: "other"), part)
        case .directory:
            unlink(part)
            mkdir(part, 0o700)
        }
        let fields: HTTPHeaders = fault == .otherFields ? ["Authorization": "Bearer x"] : [:]
        #expect(await save(origin.url, fields: fields)?.metrics.resumedBytes == 0)
        #expect(try directory.contents(of: "a.png") == image)
        #expect(fault != .directory || names == ["a.png", "a.png.eidetic-partial"])
    }

    @Test("L24 a part has a lifetime", arguments: [(-5, 100_000), (5, 0)])
    func partsExpire(_ excess: Int, resumedBytes: Int) async throws {
        let origin = try origin(breakingAfter: 100_000, isWhole: Counter())
        #expect(await save(origin.url) == nil)
        time.advance(by: .seconds(86_400 + excess))
        #expect(await save(origin.url)?.metrics.resumedBytes == resumedBytes)
    }

    @Test("L24 sixteen parts stay in a directory, the last ones", arguments: [15, 16, 17])
    func partsAreBounded(_ count: Int) async throws {
        let origin = try origin(breakingAfter: 70_000)
        for number in 0..<count { #expect(await save(origin.url, to: "\(number).png") == nil) }
        let expected = (max(0, count - 16)..<count).map { "\($0).png.eidetic-partial" }
        #expect(names == expected.sorted())
    }

    @Test("L24 a changed resource replaces the part")
    func changedResourcesReplaceParts() async throws {
        let (image, count) = (image, Counter())
        let new = Fixture.image(length: 8) + image.dropFirst(8).reversed()
        let origin = try ScriptedOrigin { _ in
            if count.next() > 0 { return [.response(200, headers: ["ETag": "\"2\""], body: new)] }
            return [
                .head(200, headers: ["ETag": "\"1\"", "Content-Length": "200000"]), .send(Array(image[..<100_000])),
                .close,
            ]
        }
        #expect(await save(origin.url) == nil)
        #expect(await save(origin.url)?.status == 200)
        #expect(try directory.contents(of: "a.png") == new && names == ["a.png"])
    }
}
