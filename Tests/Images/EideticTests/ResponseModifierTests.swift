import Eidetic
import EideticCore
import EideticFetch
import EideticTestSupport
import Testing

@Suite("The hook for responses, and acceptable statuses", .timeLimit(.minutes(2)))
struct ResponseModifierTests {
    typealias Modifier = @Sendable (FetchResponse) async throws(EideticError) -> FetchResponse

    /// The statuses that a hook has seen.
    private final class Statuses: Sendable {
        private let state = Guarded<[Int]>([])
        var values: [Int] { state.withLock { $0 } }
        func add(_ status: Int) { state.withLock { $0.append(status) } }
    }

    /// A server that sends an image with the status that the path names.
    private func makeServer(_ body: [UInt8]) throws -> ScriptedOrigin {
        try ScriptedOrigin { request in
            guard request.headers["if-none-match"] == nil else { return [.response(304, headers: ["ETag": "\"1\""])] }
            let status = Int(request.path.dropFirst().prefix(3)) ?? 200
            return [.response(status, headers: ["ETag": "\"1\""], body: body)]
        }
    }

    private func makePipeline(
        modifier: Modifier? = nil,
        change: (inout ImagePipeline.Configuration) -> Void = { _ in }
    ) throws -> ImagePipeline {
        var configuration = ImagePipeline.Configuration()
        configuration.downloads.responseModifier = modifier
        change(&configuration)
        return ImagePipeline(configuration)
    }

    private func settingStatus(_ status: Int, statuses: Statuses = Statuses()) -> Modifier {
        { response in
            statuses.add(response.status)
            var response = response
            response.status = status
            return response
        }
    }

    @Test("L20 the hook sees every status with its body, and the status that it returns counts, with previews as well")
    func success() async throws {
        let png = try TestImage.png(width: 8, height: 6), server = try makeServer(png)
        for options in [ImageOptions(), .progressive] {
            let statuses = Statuses(), pipeline = try makePipeline(modifier: settingStatus(200, statuses: statuses))
            for status in [200, 203, 400, 404, 410, 500, 503] {
                let request = ImageRequest("\(server.url)/\(status)", options: options)
                #expect(try await pipeline.image(for: request).size.width == 8, "\(status)")
            }
            #expect(statuses.values == [200, 203, 400, 404, 410, 500, 503])
        }
    }

    @Test("L20 L07 a status that the hook sets fails the load, and is remembered as that of a server")
    func failure() async throws {
        let server = try makeServer(try TestImage.png(width: 8, height: 6))
        for options in [ImageOptions(), .progressive] {
            server.removeRequests()
            let pipeline = try makePipeline(modifier: settingStatus(404))
            for isRemembered in [false, true] {
                let error = await #expect(throws: EideticError.self) {
                    try await pipeline.image(for: ImageRequest("\(server.url)/200", options: options))
                }
                #expect(error?.code == .httpStatus && error?.httpStatus == 404 && error?.isRemembered == isRemembered)
            }
            #expect(server.requests.count == 1)
        }
    }

    @Test("L20 L10 with a hook for responses previews are shown")
    func previews() async throws {
        let gate = Gate(), png = try TestImage.png(width: 200, height: 160), part = png.count * 7 / 10
        let server = try ScriptedOrigin { _ in
            [
                .head(200, headers: ["Content-Length": "\(png.count)"]), .send(Array(png.prefix(part))), .wait(gate),
                .send(Array(png.dropFirst(part))),
            ]
        }
        let statuses = Statuses(), pipeline = try makePipeline(modifier: settingStatus(200, statuses: statuses))
        var events: [String] = []
        for await event in pipeline.task(for: ImageRequest(server.url + "/a", options: .progressive)).events {
            switch event {
            case .preview:
                events.append("preview")
                gate.open()
            case .finished(let response): events.append("finished \(response.image.size)")
            case .failed(let error): events.append("\(error)")
            case .progress, .cached: break
            }
        }
        #expect(Set(events) == ["preview", "finished 200x160"] && events.last == "finished 200x160")
        #expect(statuses.values == [200])
    }

    @Test("L20 L11 the hook sees a confirmation, and its fields are those of the entry")
    func confirmation() async throws {
        let server = try makeServer(try TestImage.png(width: 8, height: 6)), statuses = Statuses()
        let directory = try TemporaryDirectory(named: "modifier")
        let modifier: Modifier = { response in
            statuses.add(response.status)
            var response = response
            response.headers["X-Seen"] = "\(response.status)"
            return response
        }
        let disk = try DiskCache(.init(directory: directory.path(of: "cache")))
        let pipeline = try makePipeline(modifier: modifier, change: { $0.diskCache = disk })
        let request = ImageRequest("\(server.url)/200", cachePolicy: .afterStorage)
        _ = try await pipeline.image(for: request)
        _ = try await pipeline.response(for: request.with(options: .refreshCached, cachePolicy: .afterStorage))
        #expect(statuses.values == [200, 304])
        let fields = try await pipeline.cache.metadata(for: .init(request))?.headers ?? []
        #expect(fields.first { $0.name == "X-Seen" }?.value == "304")
    }

    @Test("L20 what the hook throws ends the load; an error page that is not an image is refused as such")
    func refusals() async throws {
        let page = Array("<html>".utf8), server = try makeServer(page)
        for options in [ImageOptions(), .progressive] {
            let refusing = try makePipeline(
                modifier: { _ throws(EideticError) in throw EideticError(.refused, message: "no") }
            )
            let modified = try makePipeline(modifier: settingStatus(200)), plain = try makePipeline(modifier: { $0 })
            for (pipeline, path, code) in [
                (refusing, "/404", .refused), (modified, "/404", .notAnImage), (plain, "/404", .httpStatus),
            ] as [(ImagePipeline, String, EideticError.Code)] {
                let request = ImageRequest(server.url + path, options: options)
                #expect(await errorCode { _ = try await pipeline.image(for: request) } == code)
            }
        }
    }

    @Test("L20 an error page that is too long, cut or badly coded is still the error of its status")
    func brokenPages() async throws {
        let server = try ScriptedOrigin { request in
            switch request.path {
            case "/long": [.response(404, body: Array(repeating: 7, count: 3_000))]
            case "/endless":
                [
                    .head(404, headers: ["Transfer-Encoding": "chunked"]), .chunk(Array(repeating: 7, count: 3_000)),
                    .chunk([]),
                ]
            case "/cut": [.head(404, headers: ["Content-Length": "900"]), .send([1, 2, 3]), .close]
            default:
                [
                    .response(
                        404,
                        headers: ["Content-Encoding": request.path.dropFirst() == "gzip" ? "gzip" : "odd"],
                        body: [1]
                    )
                ]
            }
        }
        for options in [ImageOptions(), .progressive] {
            let pipeline = try makePipeline(modifier: { $0 })
            for path in ["/long", "/endless", "/cut", "/gzip", "/odd"] {
                var request = try FetchRequest(url: server.url + path)
                request.byteLimit = 2_000
                let error = await #expect(throws: EideticError.self) {
                    try await pipeline.image(for: ImageRequest(.remote(request), options: options))
                }
                #expect(error?.httpStatus == 404 && error?.code == .httpStatus, "\(path)")
            }
        }
    }

    @Test("L20 an acceptable status brings an image; it is stored by the rules for its status")
    func acceptable() async throws {
        let server = try makeServer(try TestImage.png(width: 8, height: 6))
        for freshness in [ImagePipeline.Configuration.Freshness.maximumAge, .http] {
            let directory = try TemporaryDirectory(named: "status")
            let disk = try DiskCache(.init(directory: directory.path(of: "cache")))
            let pipeline = try makePipeline(change: {
                ($0.diskCache, $0.freshness) = (disk, freshness)
                $0.downloads.acceptableStatus = [200, 404, 500]
            })
            for (status, isStored) in [(404, true), (500, false)] {
                let request = ImageRequest("\(server.url)/\(status)", cachePolicy: .afterStorage)
                #expect(try await pipeline.image(for: request).size.width == 8)
                #expect(try await pipeline.cache.contains(.init(request), in: .disk) == isStored, "\(status)")
            }
            for status in [203, 403] {
                let request = ImageRequest("\(server.url)/\(status)")
                let error = await #expect(throws: EideticError.self) { try await pipeline.image(for: request) }
                #expect(error?.httpStatus == status)
            }
        }
    }

    @Test("L20 L24 a body is resumed although 206 is not in the set of acceptable statuses")
    func resumption() async throws {
        let png = try TestImage.png(width: 64, height: 48), half = png.count / 2
        let server = try ScriptedOrigin { request in
            guard let start = request.headers["range"].flatMap({ Int($0.dropFirst(6).dropLast()) }) else {
                let fields = ["Content-Length": "\(png.count)", "ETag": "\"1\""] as KeyValuePairs
                return [.head(200, headers: fields), .send(Array(png.prefix(half))), .close]
            }
            let range = "bytes \(start)-\(png.count - 1)/\(png.count)"
            let fields = ["Content-Range": range, "ETag": "\"1\""] as KeyValuePairs
            return [.response(206, headers: fields, body: Array(png.dropFirst(start)))]
        }
        let pipeline = try makePipeline(change: { $0.downloads.acceptableStatus = [200] })
        let image = try await pipeline.image(for: ImageRequest(server.url + "/a", options: .retryFailed))
        #expect(image.size == PixelSize(width: 64, height: 48) && server.requests.last?.headers["range"] != nil)
    }
}
