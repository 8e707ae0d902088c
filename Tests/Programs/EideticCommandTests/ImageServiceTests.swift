import Eidetic
import EideticCodecs
import EideticCore
import EideticTestSupport
import Glibc
import Testing

/// The example of docs/image-service.md, as it is built.
@Suite("the example ImageService", .needsNginx, .timeLimit(.minutes(2)))
struct ImageServiceTests {
    private let directory: TemporaryDirectory
    private let service: Subprocess
    private let url: String

    init() async throws {
        let directory = try TemporaryDirectory(named: "service")
        (service, url) = try await Self.start("--allow-private", in: directory)
        self.directory = directory
    }

    /// An origin whose images need not be asked for again.
    private static let fresh = Nginx.Configuration(server: "add_header Cache-Control max-age=600;")

    /// Starts the service at a free port, which it prints.
    private static func start(
        _ words: String...,
        in directory: TemporaryDirectory
    ) async throws -> (Subprocess, url: String) {
        let process = try Subprocess(
            EideticProgram.path.dropLast("eidetic".count) + "ImageService",
            arguments: ["0"] + words,
            environment: ["XDG_CACHE_HOME": directory.path(of: "cache"), "CACHE_DIRECTORY": nil]
        )
        try #require(await process.waitForOutput("\n"), "\(process.errorsSoFar)")
        let port = try #require(process.outputSoFar.split(whereSeparator: \.isWhitespace).last)
        return (process, "http://127.0.0.1:\(port)")
    }

    /// A response as curl has received it.
    private struct Response {
        var status = 0, type = "", tag = ""
        var body: [UInt8] = []
        var text: String { String(decoding: body, as: UTF8.self) }
    }

    private func get(_ path: String, _ options: String...) async throws -> Response {
        let body = directory.path(of: "body")
        try? FileSystem().unlink(body)
        let format = "%{http_code}|%{content_type}|%header{etag}"
        let words = ["-s", "-g", "-o", body, "-w", format] + options + [url + path]
        let result = try await Subprocess.run("curl", arguments: words)
        #expect(result.status == .exited(0), "\(path): \(result.status) \(result.errorText)")
        let parts = result.outputText.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
        var response = Response(status: Int(parts[0]) ?? 0, type: parts[1], tag: parts[2])
        response.body = (try? FileSystem().contents(of: body)) ?? []
        return response
    }

    @Test("images have the pixels that the library makes of them, in the size and format of the request")
    func resize() async throws {
        let server = try await Nginx(Self.fresh), jpeg = try TestImages.encoded(as: .jpeg, width: 320, height: 240)
        try server.addFile(jpeg, at: "a.jpg")
        let formats: [(name: String, ImageFormat)] = [("jpeg", .jpeg), ("png", .png), ("webp", .webp)]
        for (name, format) in formats {
            let response = try await get("/resize?url=\(server.url)/a.jpg&w=80&h=80&format=\(name)")
            #expect(response.status == 200 && response.type == format.mimeType, "\(response.text.prefix(200))")
            var options = DecodeOptions()
            options.size = PixelSize(width: 80, height: 80)
            let expected = try ImageEncoder.encode(ImageDecoder.decode(jpeg, options: options), as: format)
            #expect(response.body == expected)
            let image = try ImageDecoder.decode(response.body)
            #expect(image.size == PixelSize(width: 80, height: 60) && ImageFormat(of: response.body) == format)
        }
        // The larger image is in memory now.
        let smaller = try await get("/resize?url=\(server.url)/a.jpg&w=33&h=33&format=png")
        var options = DecodeOptions()
        options.size = PixelSize(width: 33, height: 33)
        #expect(smaller.body == (try ImageEncoder.encode(ImageDecoder.decode(jpeg, options: options), as: .png)))
        #expect(try await server.requestCount(for: "/a.jpg") == 1)
        let metrics = try await get("/metrics")
        #expect(metrics.status == 200 && metrics.text.contains("eidetic_network_loads_total 1\n"), "\(metrics.text)")
        #expect(metrics.text.contains("sandboxed_images_total 2\n"), "\(metrics.text)")
    }

    @Test("a client that has the image receives status 304 without bytes")
    func conditional() async throws {
        let server = try await Nginx()
        try server.addFile(try TestImages.encoded(as: .png), at: "a.png")
        let path = "/resize?url=\(server.url)/a.png&w=30&h=30"
        let first = try await get(path)
        #expect(first.status == 200 && first.tag.count > 2)
        for (tags, status) in [(first.tag, 304), ("\"other\", W/\(first.tag)", 304), ("*", 304), ("\"other\"", 200)] {
            let response = try await get(path, "-H", "If-None-Match: \(tags)")
            #expect(response.status == status && response.body.isEmpty == (status == 304), "\(tags)")
            #expect(response.tag == first.tag)
        }
        let head = try await get(path, "-I")
        #expect(head.status == 200 && head.tag == first.tag)
    }

    @Test("what cannot be answered has a status of its kind, with the reason")
    func refusals() async throws {
        let server = try await Nginx()
        try server.addFile(Array("<html>".utf8), at: "page.html")
        try server.addFile(try TestImages.encoded(as: .png), at: "a.png")
        let file = try directory.write(try TestImages.encoded(as: .png), to: "secret.png")
        let refusals = [
            ("/resize?w=1&h=1", 400, "the parameter url is missing"),
            ("/resize?url=\(server.url)/a.png&w=0&h=1", 400, "w is not a number from 1 to 4096"),
            ("/resize?url=\(server.url)/a.png&w=1&h=9999", 400, "h is not a number from 1 to 4096"),
            ("/resize?url=\(server.url)/a.png&w=1&h=1&format=tiff", 400, "not one of"),
            ("/resize?url=nonsense&w=1&h=1", 400, "nonsense"),
            ("/resize?url=file://\(file)&w=1&h=1", 400, "file"),
            ("/resize?url=data:,x&w=1&h=1", 400, "data"),
            ("/resize?url=\(server.url)/missing&w=1&h=1", 404, "404"),
            ("/resize?url=\(server.url)/page.html&w=1&h=1", 422, "page.html"),
            ("/resize?url=http://127.0.0.1:1/a&w=1&h=1", 502, "127.0.0.1:1"),
            ("/other", 404, "/resize"),
        ]
        for (path, status, reason) in refusals {
            let response = try await get(path)
            #expect(response.status == status && response.text.contains(reason), "\(path): \(response)")
        }
        #expect(try await get("/resize?url=\(server.url)/a.png&w=1&h=1", "-d", "x").status == 405)
        #expect(try await get("/resize?url=\(server.url)/a.png&w=1&h=1").status == 200)
    }

    @Test("addresses in private networks are refused unless an option allows them")
    func privateNetworks() async throws {
        let server = try await Nginx()
        try server.addFile(try TestImages.encoded(as: .png), at: "a.png")
        let (other, url) = try await Self.start(in: directory)
        let words = ["-s", "-w", "%{http_code}", "\(url)/resize?url=\(server.url)/a.png&w=1&h=1"]
        let result = try await Subprocess.run("curl", arguments: words)
        #expect(result.outputText.hasSuffix("400") && result.outputText.contains("private"), "\(result.outputText)")
        #expect(try await server.requestCount(for: "/a.png") == 0)
        other.kill(SIGTERM)
        #expect(await other.waitUntilExit().status == .exited(0))
    }

    @Test("the load of a client that leaves is cancelled, and others go on")
    func leaving() async throws {
        let png = try TestImages.encoded(as: .png), left = Gate(), neverOpen = Gate()
        let origin = try ScriptedOrigin { request in
            if request.path == "/fast.png" { return [.response(body: png)] }
            // Chunks are refused once the load has closed its connection.
            return [.head(200, headers: ["Transfer-Encoding": "chunked"]), .open(left), .wait(neverOpen)]
        }
        let slow = try Subprocess("curl", arguments: ["-s", "\(url)/resize?url=\(origin.url)/slow.png&w=9&h=9"])
        await left.wait()
        slow.kill()
        _ = await slow.waitUntilExit()
        let metrics = try await eventually("the load is cancelled") {
            try await self.get("/metrics").text
        } until: {
            $0.contains("eidetic_cancelled_total 1\n")
        }
        #expect(metrics.contains("eidetic_failures_total 0\n"), "\(metrics)")
        #expect(try await get("/resize?url=\(origin.url)/fast.png&w=9&h=9").status == 200)
    }

    #if Redis
    @Test("services with one shared tier ask the origin once", .needsRedis)
    func shared() async throws {
        let redis = try await RedisProcess(), server = try await Nginx(Self.fresh)
        let image = try server.addFile(try TestImages.encoded(as: .png), at: "a.png")
        var bodies: [[UInt8]] = []
        for name in ["first", "second"] {
            let place = try TemporaryDirectory(named: name)
            let (process, url) = try await Self.start("--allow-private", "--shared", redis.url, in: place)
            let result = try await Subprocess.run("curl", arguments: ["-s", "\(url)/resize?url=\(image)&w=9&h=9"])
            bodies.append(result.output)
            // It is stored after it was sent.
            try await eventually("the image is in the tier") { try await !redis.valueNames().isEmpty }
            process.kill(SIGTERM)
            #expect(await process.waitUntilExit().status == .exited(0))
        }
        #expect(bodies[0] == bodies[1] && ImageFormat(of: bodies[0]) == .jpeg)
        #expect(try await server.requestCount(for: "/a.png") == 1)
    }
    #endif
}
