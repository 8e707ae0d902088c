import Eidetic
import EideticCodecs
import EideticCore
import EideticTestSupport
import Foundation
import Testing

@Suite("Errors", .timeLimit(.minutes(1)))
struct ErrorTests {
    @Test("L07 the message of an error is its localised description")
    func localised() {
        let error: any Error = EideticError(.httpStatus, message: "https://example.org/a: status 404", httpStatus: 404)
        #expect(error.localizedDescription == "https://example.org/a: status 404")
        #expect((error as? any LocalizedError)?.errorDescription == "https://example.org/a: status 404")
    }

    @Test("L07 each error says what helps, in the words of the page of errors")
    func remedies() throws {
        let root = #filePath.split(separator: "/").dropLast(4).map { "/" + $0 }.joined()
        let page = String(decoding: try FileSystem().contents(of: root + "/docs/errors.md"), as: UTF8.self)
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { row in
            row.split(separator: "|").map { $0.filter { $0 != "`" }.trimmingCharacters(in: .whitespaces) }
        }
        #expect(rows.count == EideticError.Code.all.count)
        for row in rows {
            let code = try #require(EideticError.Code(named: row[1]))
            let error: any LocalizedError = EideticError(code, message: "")
            #expect(error.recoverySuggestion == row[3], "\(code)")
        }
    }

    @Test("L04 a cancelled task throws an error that its code matches as a pattern")
    func cancellation() async throws {
        let gate = Gate(), server = try ScriptedOrigin { _ in [.wait(gate), .response(404)] }
        let task = Task { () -> String in
            do {
                _ = try await ImagePipeline(.init()).image(for: ImageRequest(server.url))
                return "loaded"
            } catch EideticError.Code.httpStatus {
                return "failed"
            } catch EideticError.Code.cancelled {
                return "cancelled"
            }
        }
        await server.waitForRequests(count: 1)
        task.cancel()
        #expect(try await task.value == "cancelled")
        gate.open()
    }

    @Test("L07 no other error matches the pattern of a code")
    func patterns() {
        #expect(!(EideticError.Code.cancelled ~= CancellationError()))
        #expect(!(EideticError.Code.cancelled ~= EideticError(.offline, message: "")))
        #expect(EideticError.Code.cancelled ~= EideticError.cancelled)
    }

    @Test("L07 a status that is remembered keeps its code, and no request is sent")
    func remembered() async throws {
        let server = try ScriptedOrigin { _ in [.response(404)] }
        let pipeline = ImagePipeline(.init()), request = ImageRequest(server.url + "/a.png")
        var errors: [EideticError] = []
        for _ in 0..<3 {
            do throws(EideticError) { _ = try await pipeline.image(for: request) } catch { errors.append(error) }
        }
        #expect(errors.map(\.code) == [.httpStatus, .httpStatus, .httpStatus])
        #expect(errors.map(\.httpStatus) == [404, 404, 404])
        #expect(errors.map(\.isRemembered) == [false, true, true])
        #expect(server.requests.count == 1)
    }

    @Test("L07 a remembered 404 does not remove an image that was stored since")
    func storedSince() async throws {
        let server = try ScriptedOrigin { _ in [.response(404)] }
        let directory = try TemporaryDirectory(named: "errors")
        let disk = try DiskCache(.init(directory: directory.path))
        var configuration = ImagePipeline.Configuration(diskCache: disk)
        configuration.freshness = .http
        let pipeline = ImagePipeline(configuration), request = ImageRequest(server.url + "/a.png")
        await #expect(throws: EideticError.self) { try await pipeline.image(for: request) }
        let image = try ImageDecoder.decode(try TestImage.png(width: 4, height: 3))
        try await pipeline.cache.insert(image, for: ImageCache.Key(request))
        let validating = request.with(options: [], cachePolicy: .reload)
        await #expect(throws: EideticError.self) { try await pipeline.image(for: validating) }
        #expect(pipeline.cachedImage(for: request) != nil)
        #expect(server.requests.count == 1)
    }

    @Test(
        "F01 the error of a format that is not built in names its trait",
        .disabled(if: ImageDecoder.supportedFormats.contains(.svg), "skipped: every trait is enabled")
    )
    func missingDecoder() async {
        let files: [(ImageFormat, String, [UInt8])] = [
            (.svg, "SVG", Array("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"4\" height=\"3\"/>".utf8)),
            (.jpegxl, "JPEGXL", [0xff, 0x0a, 0x7f, 0x50, 0x0a, 0, 0, 0, 0, 0, 0, 0]),
        ]
        for (format, trait, bytes) in files where !ImageDecoder.supportedFormats.contains(format) {
            let error = await #expect(throws: EideticError.self) {
                try await ImagePipeline(.init()).image(for: ImageRequest(.bytes(bytes)))
            }
            #expect(error?.code == .unsupportedFormat)
            let message = "this build has no decoder for \(format); build Eidetic with the package trait \(trait)"
            #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
        }
    }

    @Test("F05 the error of a format that no build encodes does not blame the build")
    func missingEncoder() throws {
        let image = try ImageDecoder.decode(try TestImage.png(width: 4, height: 3))
        let error = #expect(throws: EideticError.self) { try ImageEncoder.encode(image, as: .jpegxl) }
        #expect(error?.message.hasPrefix("jpegxl cannot be encoded, only jpeg, png, webp, gif") == true)
    }
}
