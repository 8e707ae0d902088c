import EideticCore
import EideticFetch
import EideticHTTP
import EideticTestSupport
import Testing

@Suite("Content codings", .timeLimit(.minutes(1)))
struct ContentCodingTests {
    private func gzipped(_ bytes: [UInt8]) async throws -> [UInt8] {
        try await Subprocess.run("gzip", arguments: ["-c"], input: bytes).output
    }

    /// Returns the error of a download whose response has these lines between its status line and its length.
    private func failure(_ status: String, lines: String, body: [UInt8] = [1]) async throws -> EideticError? {
        let head = "HTTP/1.1 \(status)\r\n\(lines)Content-Length: \(body.count)\r\n\r\n"
        let origin = try ScriptedOrigin { _ in [.send(Array(head.utf8) + body)] }
        return await EideticFetchTests.failure { () async throws(EideticError) in
            try await Downloader().fetch(url: origin.url)
        }
    }

    @Test(
        "C18 more than five content codings are refused at the end of the head, also of error pages and redirects",
        arguments: ["200 OK", "404 Not Found", "302 Found\r\nLocation: /"]
    )
    func tooManyCodings(status: String) async throws {
        let lines = String(repeating: "Content-Encoding: gzip, x-gzip\r\n", count: 3)
        let error = try await failure(status, lines: lines)
        #expect(error?.code == .badResponse)
    }

    /// RFC 9110, section 8.4: codings are listed in the order of their application.
    @Test(
        "L20 several codings are decoded, the last one first, also of several fields",
        arguments: ["Content-Encoding: gzip, X-GZIP", "content-encoding: deflate,\r\nContent-Encoding: gzip, gzip"]
    )
    func severalCodings(lines: String) async throws {
        let image = Fixture.image(length: 300_000)
        var body = image
        if lines.contains("deflate") {
            let command = "import sys, zlib; sys.stdout.buffer.write(zlib.compress(sys.stdin.buffer.read()))"
            body = try await Subprocess.run("python3", arguments: ["-c", command], input: body).output
        }
        for _ in 0..<2 { body = try await gzipped(body) }
        let head = "HTTP/1.1 200 OK\r\n\(lines)\r\nContent-Length: \(body.count)\r\n\r\n"
        let origin = try ScriptedOrigin { [body] _ in [.send(Array(head.utf8) + body)] }
        #expect(try await Downloader().fetch(url: origin.url).bytes == image)
        let half = "HTTP/1.1 200 OK\r\n\(lines)\r\nContent-Length: \(body.count / 2)\r\n\r\n"
        let cut = try ScriptedOrigin { [body] _ in [.send(Array(half.utf8) + body[..<(body.count / 2)])] }
        let error = await EideticFetchTests.failure { () async throws(EideticError) in
            try await Downloader().fetch(url: cut.url)
        }
        #expect(error?.code == .badResponse)
    }

    @Test("C18 the limit of bytes holds between two codings")
    func byteLimitBetweenCodings() async throws {
        // Many members without content: twenty bytes each, which are no byte at the end.
        let empty = try await gzipped([])
        let members = Array(repeatElement(empty, count: 40_000).joined())
        let body = try await gzipped(members + gzipped(Fixture.image(length: 1_000)))
        let origin = try ScriptedOrigin { _ in
            [.response(200, headers: ["Content-Encoding": "gzip, gzip"], body: body)]
        }
        for (limit, code) in [(ByteCount.mebibytes(1), nil), (200_000, .limitExceeded)]
            as [(ByteCount, EideticError.Code?)]
        {
            var request = try FetchRequest(url: origin.url)
            request.byteLimit = limit
            let error = await EideticFetchTests.failure { [request] () async throws(EideticError) in
                try await Downloader().fetch(request)
            }
            #expect(error?.code == code)
        }
    }

    /// Chromium, Firefox and curl take the body as it is (reports of images behind upload tools).
    @Test(
        "L20 a name that is no coding is ignored",
        arguments: ["aws-chunked", "UTF-8", "utf8", "binary", "base64", "z\u{1b}std", "gzip, utf-8"]
    )
    func unknownCoding(name: String) async throws {
        let image = Fixture.image(length: 1_000)
        let origin = try ScriptedOrigin { _ in [.response(200, headers: ["Content-Encoding": name], body: image)] }
        #expect(try await Downloader().fetch(url: origin.url).bytes == image)
    }

    /// Firefox ignores the name; objects are stored so by tools that upload them in pieces.
    @Test(
        "L20 a coding beside a name that is none is decoded if the body has it",
        arguments: ["gzip, aws-chunked", "aws-chunked,gzip"]
    )
    func codingBesideUnknown(name: String) async throws {
        let image = Fixture.image(length: 300_000), body = try await gzipped(image)
        let origin = try ScriptedOrigin { _ in [.response(200, headers: ["Content-Encoding": name], body: body)] }
        #expect(try await Downloader().fetch(url: origin.url).bytes == image)
    }

    @Test(
        "C18 one coding is decoded, whatever its spelling",
        arguments: ["gzip", "X-GZIP", "identity, gzip,", "\tgzip"]
    )
    func oneCoding(name: String) async throws {
        let (image, body) = (Fixture.image(length: 300_000), try await gzipped(Fixture.image(length: 300_000)))
        let origin = try ScriptedOrigin { _ in [.response(200, headers: ["Content-Encoding": name], body: body)] }
        let response = try await Downloader().fetch(url: origin.url)
        #expect(response.bytes == image)
        #expect(response.metrics.bodyBytes == body.count)
    }

    @Test("L20 a body without a coding may be called identity or none", arguments: ["identity", "none", "None"])
    func noCoding(name: String) async throws {
        let image = Fixture.image(length: 1_000)
        let origin = try ScriptedOrigin { _ in [.response(200, headers: ["Content-Encoding": name], body: image)] }
        #expect(try await Downloader().fetch(url: origin.url).bytes == image)
    }

    @Test("L20 all members of a gzip file are decoded, also in chunks of their own; other bytes behind them are not")
    func members() async throws {
        let image = Fixture.image(length: 3_000)
        let first = try await gzipped(Array(image[..<1_000])), second = try await gzipped(Array(image[1_000...]))
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
        for chunks in [[first + second], [first, second, [0, 1, 2]]] {
            let body = chunks.flatMap { Array("\(String($0.count, radix: 16))\r\n".utf8) + $0 + Array("\r\n".utf8) }
            let origin = try ScriptedOrigin { _ in [.send(Array(head.utf8) + body + Array("0\r\n\r\n".utf8))] }
            #expect(try await Downloader().fetch(url: origin.url).bytes == image)
        }
    }

    @Test("L20 deflate is decoded with and without the header of zlib, and br", arguments: ["zlib", "raw", "br"])
    func otherCodings(form: String) async throws {
        let image = Fixture.image(length: 1_000), size = UInt16(image.count)
        let length = [UInt8(size & 255), UInt8(size >> 8)]
        let stored = [1] + length + length.map { ~$0 } + image
        var (a, b) = (UInt32(1), UInt32(0))
        for byte in image { (a, b) = ((a + UInt32(byte)) % 65_521, (a + UInt32(byte) + b) % 65_521) }
        let checksum = [b >> 8, b & 255, a >> 8, a & 255].map { UInt8($0) }
        // RFC 7932: a window of 16 bits, an uncompressed meta-block, and the empty last one.
        let header = UInt32(size - 1) << 4 | 1 << 20
        let brotli = [0, 8, 16].map { UInt8(truncatingIfNeeded: header >> $0) } + image + [3]
        let body = form == "zlib" ? [0x78, 0x01] + stored + checksum : form == "raw" ? stored : brotli
        let name = form == "br" ? "br" : "deflate"
        let origin = try ScriptedOrigin { _ in [.response(200, headers: ["Content-Encoding": name], body: body)] }
        #expect(try await Downloader().fetch(url: origin.url).bytes == image)
    }

    /// RFC 8878, section 3.1: a body is one or more frames; Chromium decodes all of them.
    @Test(
        "L20 zstd is decoded, frame by frame, within the limit of bytes; a cut body is an error",
        arguments: [
            ("one frame", nil), ("two frames", nil), ("bytes behind", nil), ("cut", .badResponse),
            ("too long", .limitExceeded), ("too large a window", .badResponse),
        ] as [(String, EideticError.Code?)]
    )
    func zstd(form: String, code: EideticError.Code?) async throws {
        let image = Fixture.image(length: 300_000)
        func encoded(_ bytes: some Collection<UInt8>, _ options: String...) async throws -> [UInt8] {
            try await Subprocess.run("zstd", arguments: options + ["-c"], input: Array(bytes)).output
        }
        var body = try await encoded(image)
        if form == "two frames" {
            body = try await encoded(image.prefix(1_000), "--no-check") + encoded(image.dropFirst(1_000))
        }
        if form == "bytes behind" { body += [0, 1, 2, 3, 4, 5, 6, 7, 8] }
        if form == "cut" { body.removeLast(body.count / 2) }
        if form == "too long" { body = try await encoded(image + Array(repeating: 0, count: 20_000_000)) }
        if form == "too large a window" { body = try await encoded(image, "--ultra", "--long=27") }
        var chunks = "HTTP/1.1 200 OK\r\nContent-Encoding: zstd\r\nTransfer-Encoding: chunked\r\n\r\n".utf8.map { $0 }
        for start in stride(from: 0, to: body.count, by: 1_000) {
            let chunk = body[start..<min(start + 1_000, body.count)]
            chunks += Array("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + Array("\r\n".utf8)
        }
        let origin = try ScriptedOrigin { [chunks] _ in [.send(chunks + Array("0\r\n\r\n".utf8))] }
        var request = try FetchRequest(url: origin.url)
        request.byteLimit = 1_000_000
        do throws(EideticError) {
            #expect(try await Downloader().fetch(request).bytes == image)
            #expect(code == nil)
        } catch {
            #expect(error.code == code)
        }
    }

    @Test("C18 a transfer coding other than chunked is refused, also that of an informational response")
    func transferCoding() async throws {
        for status in ["200 OK", "103 Early Hints\r\nTransfer-Encoding: gzip\r\n\r\nHTTP/1.1 200 OK"] {
            let lines = status.hasPrefix("200") ? "Transfer-Encoding: gzip, chunked\r\n" : ""
            let error = try await failure(status, lines: lines)
            #expect(error?.code == .badResponse)
            #expect(error?.message.contains("transfer coding") == true)
        }
    }

    @Test(
        "C18 a registered coding that cannot be decoded is refused by its name",
        arguments: ["compress", "gzip, DCZ"]
    )
    func unsupported(name: String) async throws {
        let error = try await failure("200 OK", lines: "Content-Encoding: \(name)\r\n")
        #expect(error?.code == .badResponse)
        let last = name.split(separator: " ").last?.lowercased() ?? ""
        #expect(error?.message.contains("\(last) is not supported") == true)
    }

    /// Browsers ignore the trailer of gzip (RFC 1952, section 2.3.1: eight bytes; Chromium 156 shows the image).
    @Test(
        "L20 a body that ends within its coded data is refused; its checksum may be missing or wrong, and bytes behind it are ignored"
    )
    func ends() async throws {
        let body = try await gzipped(Fixture.image(length: 5_000)), lines = "Content-Encoding: gzip\r\n"
        for cut in [9, 10, body.count / 2, body.count - 5] {
            let error = try await failure("200 OK", lines: lines, body: Array(body.dropLast(cut)))
            #expect(error?.code == .badResponse)
            #expect(error?.message.contains("ends before its end as gzip") == true)
        }
        let wrong = body.dropLast(8) + [1, 2, 3, 4, 5, 6, 7, 8]
        for other in [body.dropLast(1), body.dropLast(8), wrong, body + [1, 2, 3]].map(Array.init) {
            let origin = try ScriptedOrigin { _ in [.response(200, headers: ["Content-Encoding": "gzip"], body: other)]
            }
            #expect(try await Downloader().fetch(url: origin.url).bytes == Fixture.image(length: 5_000))
        }
    }

    @Test("L20 the limit of bytes holds while a body is decoded: at it, and one above", arguments: [0, 1])
    func byteLimit(surplus: Int) async throws {
        let body = try await gzipped(Fixture.image(length: 200_000 + surplus))
        let origin = try ScriptedOrigin { _ in [.response(200, headers: ["Content-Encoding": "gzip"], body: body)] }
        var request = try FetchRequest(url: origin.url)
        request.byteLimit = 200_000
        let error = await EideticFetchTests.failure { [request] () async throws(EideticError) in
            try await Downloader().fetch(request)
        }
        #expect(error?.code == (surplus == 0 ? nil : .limitExceeded))
    }

    @Test("C18 a body of 60 MB that arrives in one read leaves turns for other downloads")
    func turns() async throws {
        let command = "(printf '\\211PNG\\r\\n\\032\\n'; head -c 60000000 /dev/zero) | gzip -9 -c"
        let body = try await Subprocess.run("sh", arguments: ["-c", command]).output
        let origin = try ScriptedOrigin { request in
            request.path == "/small"
                ? [.response(200, body: Fixture.image())]
                : [.response(200, headers: ["Content-Encoding": "gzip"], body: body)]
        }
        let (downloader, hasStarted) = (Downloader(), Gate())
        let received = Guarded(0)
        let (large, small) = (try FetchRequest(url: origin.url), try FetchRequest(url: origin.url + "/small"))
        let task = Task {
            try await downloader.fetch(large) { progress in
                received.withLock { $0 = progress.received }
                if progress.received > 0 { hasStarted.open() }
            }.bytes.count
        }
        await hasStarted.wait()
        _ = try await downloader.fetch(small)
        #expect(received.withLock { $0 } < 60_000_008)
        #expect(try await task.value == 60_000_008)
    }

    @Test("L20 a stream of a compressed body pauses for its reader, and is cancelled while it is decoded")
    func stream() async throws {
        let image = Fixture.image(length: 3_000_000), body = try await gzipped(image)
        let origin = try ScriptedOrigin { _ in [.response(200, headers: ["Content-Encoding": "gzip"], body: body)] }
        let downloader = Downloader()
        var bytes: [UInt8] = []
        for try await chunk in try await downloader.stream(FetchRequest(url: origin.url)) {
            #expect(chunk.count <= 400_000)
            bytes += chunk
        }
        #expect(bytes == image)
        var chunks: FetchStream.Iterator? = try await downloader.stream(FetchRequest(url: origin.url))
            .makeAsyncIterator()
        #expect(try await chunks?.next()?.isEmpty == false)
        chunks = nil
        #expect(try await downloader.fetch(url: origin.url + "/next").bytes == image)
    }
}
