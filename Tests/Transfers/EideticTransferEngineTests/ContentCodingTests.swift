import EideticCore
import EideticTestSupport
import EideticTransfer
import EideticTransferEngine
import Testing

/// URLSession and browsers deliver the file that was encoded; RFC 9110, section 8.4: the coding is a property of the
/// representation, so offsets and validators are those of the coded bytes.
@Suite("content codings of downloads to files", .timeLimit(.minutes(1)))
struct ContentCodingTests {
    private static func encoded(_ body: [UInt8], by coding: String) async throws -> [UInt8] {
        try await Subprocess.run(coding, arguments: ["-c"], input: body).output
    }

    @Test("B14 a file that is stored with a coding is delivered decoded", arguments: ["gzip", "zstd"], [1, 400_000])
    func decodes(coding: String, size: Int) async throws {
        let body = Body.bytes(size / 2) + Array(repeating: 7, count: size - size / 2)
        let stored = try await Self.encoded(body, by: coding)
        let origin = try ScriptedOrigin { _ in
            [.response(200, headers: ["Content-Encoding": coding, "ETag": "\"v1\""], body: stored)]
        }
        let fixture = try await ServiceFixture()
        let (response, bytes) = try await fixture.download(origin.url + "/a")
        #expect(bytes == body && response.length == size)
        #expect(response.headers["Content-Encoding"] == coding)
        let status = try #require(try await fixture.service.transfers(in: "s").first)
        #expect(status.state == .finished)
    }

    /// As in the loader of images; Amazon S3 adds `aws-chunked`, which is no coding of the stored body.
    @Test(
        "B14 an unknown coding is ignored, and a known one beside it is decoded if the body has it",
        arguments: [true, false],
        [1_000, 400_000]
    )
    func ignoresUnknownCodings(isCoded: Bool, size: Int) async throws {
        let body = Body.bytes(size)
        let stored = isCoded ? try await Self.encoded(body, by: "gzip") : body
        let origin = try ScriptedOrigin { _ in
            [.response(200, headers: ["Content-Encoding": "gzip, aws-chunked", "ETag": "\"v1\""], body: stored)]
        }
        let fixture = try await ServiceFixture()
        #expect(try await fixture.download(origin.url + "/a").bytes == body)
    }

    @Test("B14 a coded body that breaks off is continued by its coded bytes", arguments: [10, 150_000])
    func resumes(count: Int) async throws {
        let body = Body.bytes(200_000) + Array(repeating: 7, count: 500_000)
        let stored = try await Self.encoded(body, by: "gzip")
        let origin = try ScriptedOrigin { request in
            guard request.connection == 1 else {
                let range = "bytes \(count)-\(stored.count - 1)/\(stored.count)"
                let headers: KeyValuePairs = ["ETag": "\"v1\"", "Content-Range": range, "Content-Encoding": "gzip"]
                return [.response(206, headers: headers, body: Array(stored[count...]))]
            }
            let head = "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Encoding: gzip\r\n"
            let length = "Content-Length: \(stored.count)\r\n\r\n"
            return [.send(Array((head + length).utf8) + stored.prefix(count)), .close]
        }
        let fixture = try await ServiceFixture()
        #expect(try await fixture.download(origin.url + "/a").bytes == body)
        #expect(origin.requests.last?.rangeStart == count)
    }

    @Test("B14 a body with no coding that is known is delivered as it is", arguments: ["aws-chunked", "compress"])
    func leaves(coding: String) async throws {
        let body = Body.bytes(100_000)
        let origin = try ScriptedOrigin { _ in [.response(200, headers: ["Content-Encoding": coding], body: body)] }
        let fixture = try await ServiceFixture()
        #expect(try await fixture.download(origin.url + "/a").bytes == body)
    }

    /// No request has asked for it (RFC 9112, section 7.4), and libcurl would write the coded body.
    @Test("B14 a transfer coding other than chunked is not a result")
    func transferCoding() async throws {
        let body = Body.bytes(1_000)
        let origin = try ScriptedOrigin { request in
            let coding = request.connection == 1 ? "gzip, chunked" : "chunked"
            return [.head(200, headers: ["Transfer-Encoding": coding]), .chunk(body), .chunk([])]
        }
        let fixture = try await ServiceFixture()
        #expect(try await fixture.download(origin.url + "/a").bytes == body)
        #expect(origin.requests.count == 2)
    }

    @Test(
        "B14 a body that is not coded as declared, or too long when it is decoded, fails, and leaves no file",
        arguments: [("no gzip", "badResponse"), ("cut", "badResponse"), ("bomb", "limitExceeded")]
    )
    func fails(form: String, code: String) async throws {
        var stored = try await Self.encoded(Body.bytes(100_000), by: "gzip")
        if form == "no gzip" { stored = Body.bytes(100_000) }
        if form == "cut" { stored.removeLast(50_000) }
        if form == "bomb" { stored = try await Self.encoded(Array(repeating: 0, count: 40_000_000), by: "gzip") }
        let origin = try ScriptedOrigin { [stored] _ in
            [.response(200, headers: ["Content-Encoding": "gzip", "ETag": "\"v1\""], body: stored)]
        }
        let fixture = try await ServiceFixture(configure: { $0.diskLimit = 2_000_000 })
        _ = try await fixture.add(TransferRequest(download: origin.url + "/a"))
        let event = try #require(await fixture.log.waitForEvents(1).first)
        guard case .failed(let failure, _) = event.outcome else { throw UnexpectedOutcome(event: event) }
        #expect(failure == code)
        await fixture.close()
        for name in ["parts", "outbox"] { #expect(try fixture.files(in: name).isEmpty) }
    }
}

extension ServiceFixture {
    /// The names of the files in a subdirectory of the application.
    fileprivate func files(in name: String) throws -> [String] {
        let root = directory.path(of: "transfers")
        let applications = try FileSystem().entryNames(in: root).filter { $0.count == 32 }
        return try applications.flatMap { try FileSystem().entryNames(in: "\(root)/\($0)/\(name)") }
    }
}
