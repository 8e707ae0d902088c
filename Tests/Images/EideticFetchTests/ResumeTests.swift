import EideticCore
import EideticFetch
import EideticHTTP
import EideticTestSupport
import Glibc
import Testing

@Suite("Resumed downloads", .timeLimit(.minutes(1)))
struct ResumeTests {
    let image = Fixture.image(length: 200_000)
    let half = 100_000

    /// Creates an origin that sends half of the image and disconnects; the closure has the later responses.
    func makeOrigin(
        validator: KeyValuePairs<String, String> = ["ETag": "\"v1\"", "Accept-Ranges": "bytes"],
        isHeld: Bool = false,
        rest: @escaping @Sendable (ScriptedOrigin.Request) -> [ScriptedOrigin.Step]
    ) throws -> ScriptedOrigin {
        let (image, half, count) = (image, half, Counter())
        let fields = validator.map { "\($0.key): \($0.value)\r\n" }.joined()
        let head = "HTTP/1.1 200 OK\r\n\(fields)Content-Length: \(image.count)\r\n\r\n"
        return try ScriptedOrigin { request in
            guard count.next() == 0 else { return rest(request) }
            return [.send(Array(head.utf8) + image[..<half]), isHeld ? .wait(Gate()) : .close]
        }
    }

    /// The responses of a server that has the rest of the image from an offset.
    static func remainder(of image: [UInt8], from start: Int) -> [ScriptedOrigin.Step] {
        let range = "bytes \(start)-\(image.count - 1)/\(image.count)"
        return [.response(206, headers: ["ETag": "\"v1\"", "Content-Range": range], body: Array(image[start...]))]
    }

    private func load(_ origin: ScriptedOrigin) async throws -> FetchResponse {
        var configuration = Downloader.Configuration()
        configuration.retryClock = ManualRetryClock()
        var request = try FetchRequest(url: origin.url + "/a.png")
        request.ignoresFailureList = true
        return try await Downloader(configuration).fetch(request)
    }

    @Test("L24 an interrupted download is resumed if the server still has the same image")
    func resumes() async throws {
        let (image, half) = (image, half)
        let origin = try makeOrigin { _ in Self.remainder(of: image, from: half) }
        let response = try await load(origin)
        #expect(response.bytes == image)
        #expect(response.metrics.resumedBytes == half)
        #expect(origin.requests[1].headers["range"] == "bytes=\(half)-")
        #expect(origin.requests[1].headers["if-range"] == "\"v1\"")
        #expect(origin.requests[1].headers["accept-encoding"] == "identity")
    }

    @Test("L24 an image that has changed is loaded completely")
    func changed() async throws {
        let new = Array(Fixture.image(length: 150_000).reversed())
        let origin = try makeOrigin { _ in
            [.response(200, headers: ["ETag": "\"v2\""], body: Fixture.image(length: 8) + new)]
        }
        let response = try await load(origin)
        #expect(response.bytes == Fixture.image(length: 8) + new)
        #expect(response.metrics.resumedBytes == 0)
    }

    @Test("L24 a tag that begins with a combining mark is a tag, and a range of another version is not appended")
    func combiningMark() async throws {
        let (image, half) = (image, half)
        let new = Array(Fixture.image(length: 200_000).reversed())
        let origin = try makeOrigin(validator: ["ETag": "\"\u{301}1\"", "Accept-Ranges": "bytes"]) { request in
            guard request.headers["range"] != nil else { return [.response(200, headers: [:], body: image)] }
            let fields: KeyValuePairs = [
                "ETag": "\"\u{301}2\"", "Content-Range": "bytes \(half)-\(image.count - 1)/\(image.count)",
            ]
            return [.response(206, headers: fields, body: Array(new[half...]))]
        }
        #expect(try await load(origin).bytes == image)
    }

    @Test(
        "L24 a range that does not match is not appended: the image is loaded completely",
        arguments: [
            ["Content-Range": "bytes 5-199999/200000", "ETag": "\"v1\""],
            ["Content-Range": "bytes 100000-199999/300000", "ETag": "\"v1\""],
            ["Content-Range": "bytes 100000-199999/200000", "ETag": "\"v2\""],
            ["Content-Range": "nonsense"],
            // Allowed by RFC 9110, 15.3.7; by its length alone it would complete the image.
            ["Content-Range": "bytes 100000-149999/200000", "ETag": "\"v1\"", "Content-Length": "50000"],
            ["Content-Range": "bytes 100000-199999/200000", "Content-Encoding": "gzip"],
        ] as [[String: String]]
    )
    func wrongRange(_ headers: [String: String]) async throws {
        let (image, half) = (image, half)
        let origin = try makeOrigin { request in
            guard request.headers["range"] != nil else { return [.response(200, headers: [:], body: image)] }
            let fields = headers.map { "\($0.key): \($0.value)\r\n" }.joined()
            let length = headers["Content-Length"].flatMap(Int.init) ?? image.count - half
            let announced = headers["Content-Length"] == nil ? "Content-Length: \(length)\r\n" : ""
            let head = "HTTP/1.1 206 Partial Content\r\n\(fields)\(announced)\r\n"
            return [.send(Array(head.utf8) + image[half..<half + length])]
        }
        #expect(try await load(origin).bytes == image)
        #expect(origin.requests.map { $0.headers["range"] != nil } == [false, true, false])
    }

    @Test("L24 a remainder with another Last-Modified date is not appended", arguments: [true, false])
    func dates(isSame: Bool) async throws {
        let (image, half) = (image, half)
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        let origin = try makeOrigin(validator: ["Last-Modified": date, "Date": "Sun, 06 Nov 1994 09:49:37 GMT"]) {
            request in
            guard request.headers["range"] != nil else { return [.response(200, headers: [:], body: image)] }
            let range = "bytes \(half)-\(image.count - 1)/\(image.count)"
            let current = isSame ? date : "Sun, 06 Nov 1994 08:50:37 GMT"
            return [
                .response(
                    206,
                    headers: ["Last-Modified": current, "Content-Range": range],
                    body: Array(image[half...])
                )
            ]
        }
        let response = try await load(origin)
        #expect(response.bytes == image)
        #expect(response.metrics.resumedBytes == (isSame ? half : 0))
    }

    @Test(
        "L24 a partial body is kept after status 503, and after an interrupted remainder of unknown total length",
        arguments: [true, false]
    )
    func outlives(isBusy: Bool) async throws {
        let (image, half, count) = (image, half, Counter())
        let origin = try makeOrigin { request in
            let start = Int(request.headers["range"]?.split(whereSeparator: { "=-".contains($0) }).last ?? "") ?? 0
            let last = image.count - 1
            guard count.next() == 0 else {
                return Self.remainder(of: image, from: start)
            }
            if isBusy { return [.response(503)] }
            let fields: KeyValuePairs = [
                "ETag": "\"v1\"", "Content-Range": "bytes \(start)-\(last)/*",
                "Content-Length": "\(image.count - start)",
            ]
            return [.head(206, headers: fields), .send(Array(image[start..<start + 10])), .close]
        }
        let response = try await load(origin)
        #expect(response.bytes == image)
        #expect(response.metrics.resumedBytes == (isBusy ? half : half + 10))
        #expect(origin.requests.count == 3)
    }

    @Test("L24 a remainder that ends too early does not complete the body")
    func shortRest() async throws {
        let (image, half, count) = (image, half, Counter())
        let origin = try makeOrigin { request in
            guard request.headers["range"] != nil, count.next() == 0 else {
                return [.response(200, headers: [:], body: image)]
            }
            let range = "bytes \(half)-\(image.count - 1)/\(image.count)"
            let fields: KeyValuePairs = ["ETag": "\"v1\"", "Content-Range": range, "Transfer-Encoding": "chunked"]
            return [.head(206, headers: fields), .chunk(Array(image[half..<half + 10])), .chunk([])]
        }
        #expect(try await load(origin).bytes == image)
    }

    @Test("L24 the length that a server announces beside chunks is not that of the body")
    func lengthBesideChunks() async throws {
        let (image, half, count) = (image, half, Counter())
        let origin = try ScriptedOrigin { _ in
            guard count.next() == 0 else { return Self.remainder(of: image, from: half) }
            let fields: KeyValuePairs = ["ETag": "\"v1\"", "Transfer-Encoding": "chunked", "Content-Length": "10"]
            return [.head(200, headers: fields), .chunk(Array(image[..<half])), .close]
        }
        #expect(try await load(origin).bytes == image)
        #expect(origin.requests[1].headers["range"] == "bytes=\(half)-")
    }

    @Test("L24 a range that the caller requested is not resumed as if it were the beginning")
    func callersRange() async throws {
        let count = Counter()
        let origin = try ScriptedOrigin { request in
            let isFirst = count.next() == 0
            let range = "bytes 50-149/1000"
            guard request.headers["range"] == "bytes=50-149" else {
                return [
                    .response(
                        206,
                        headers: ["ETag": "\"v1\"", "Content-Range": "bytes 60-999/1000"],
                        body: Fixture.imageRemainder(from: 60)
                    )
                ]
            }
            let fields: KeyValuePairs = ["ETag": "\"v1\"", "Content-Range": range, "Content-Length": "100"]
            let part = Array(Fixture.image()[50..<150])
            return isFirst
                ? [.head(206, headers: fields), .send(Array(part[..<60])), .close]
                : [.head(206, headers: fields), .send(part)]
        }
        var configuration = Downloader.Configuration()
        configuration.retryClock = ManualRetryClock()
        var request = try FetchRequest(url: origin.url)
        request.headers["Range"] = "bytes=50-149"
        request.requiresImage = false
        request.ignoresFailureList = true
        #expect(try await Downloader(configuration).fetch(request).bytes == Array(Fixture.image()[50..<150]))
    }

    @Test("L24 an impossible length is refused, and no sum of lengths overflows")
    func hugeRest() async throws {
        let (image, half) = (image, half)
        let origin = try makeOrigin { request in
            guard request.headers["range"] != nil else { return [.response(200, headers: [:], body: image)] }
            let fields: KeyValuePairs = [
                "ETag": "\"v1\"", "Content-Range": "bytes \(half)-\(image.count - 1)/\(image.count)",
                "Content-Length": "\(Int.max)",
            ]
            return [.head(206, headers: fields), .send(Array(image[half...])), .close]
        }
        var configuration = Downloader.Configuration()
        configuration.retryClock = ManualRetryClock()
        var request = try FetchRequest(url: origin.url + "/a.png")
        request.ignoresFailureList = true
        request.byteLimit = ByteCount(.max)
        let downloader = Downloader(configuration)
        let error = await failure { [request] () async throws(EideticError) in try await downloader.fetch(request) }
        #expect(error?.code == .limitExceeded)
    }

    @Test("L24 status 416 for the remainder leads to a complete download")
    func notSatisfiable() async throws {
        let image = image
        let origin = try makeOrigin { request in
            request.headers["range"] != nil ? [.response(416)] : [.response(200, headers: [:], body: image)]
        }
        #expect(try await load(origin).bytes == image)
    }

    @Test(
        "L24 without a strong validator nothing is resumed",
        arguments: [
            [:], ["ETag": "\"v\r1\""], ["ETag": "W/\"v1\""], ["ETag": "\"v1\"", "Accept-Ranges": "none"],
            ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "Date": "Sun, 06 Nov 1994 08:49:50 GMT"],
        ] as [KeyValuePairs<String, String>]
    )
    func weak(_ headers: KeyValuePairs<String, String>) async throws {
        let image = image
        let origin = try makeOrigin(validator: headers) { _ in [.response(200, headers: [:], body: image)] }
        #expect(try await load(origin).bytes == image)
        #expect(origin.requests[1].headers["range"] == nil)
    }

    @Test("L24 a range that was not requested is refused")
    func unasked() async throws {
        let origin = try ScriptedOrigin { _ in
            [.response(206, headers: ["Content-Range": "bytes 10-19/20"], body: Fixture.image(length: 10))]
        }
        let error = await failure { () async throws(EideticError) in try await Downloader().fetch(url: origin.url) }
        #expect(error?.code == .badResponse)
    }

    /// As browsers and curl do.
    @Test(
        "L24 status 206 with the whole body, or without a range, to a request without a range is the image",
        arguments: ["bytes 0-9/10", "bytes 0-9/*", "bytes 0-/*", "none", nil]
    )
    func wholeBody(range: String?) async throws {
        let headers: KeyValuePairs = range.map { ["Content-Range": $0] } ?? [:]
        let origin = try ScriptedOrigin { _ in [.response(206, headers: headers, body: Fixture.image(length: 10))] }
        #expect(try await Downloader().fetch(url: origin.url).bytes == Fixture.image(length: 10))
    }
}
