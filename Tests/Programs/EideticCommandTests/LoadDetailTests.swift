import EideticCore
import EideticTestSupport
import Testing

@Suite("eidetic load, in detail", .needsNginx, .timeLimit(.minutes(2)))
struct LoadDetailTests: LoadingTests {
    let fixture: LoadFixture

    init() async throws { fixture = try await LoadFixture() }

    @Test("L26 --explain prints the result and the time of each step")
    func explains() async throws {
        struct Line: Decodable {
            struct Step: Decodable {
                let stage: String
                let ms: Double
                let waiting_ms: Double
                let note: String
            }
            let source: String
            let ms: Double
            let steps: [Step]
        }
        let url = try server.addFile(try TestImages.encoded(as: .jpeg, width: 400, height: 300), at: "a.jpg")
        let first = try #require(try await load(["--json", "--explain", url]).lines(Line.self).first)
        #expect(first.steps.map(\.stage) == ["memory", "disk", "network", "decode", "store"])
        #expect(first.steps.map(\.note).prefix(2) == ["miss", "miss"])
        #expect(first.steps[2].note.hasPrefix("200, "))
        #expect(first.steps.reduce(0) { $0 + $1.ms } <= first.ms)
        #expect(first.steps.allSatisfy { (0...$0.ms).contains($0.waiting_ms) })
        #expect(first.steps[3].waiting_ms > 0 && first.steps[0].waiting_ms == 0)
        let second = try await load(["--explain", url])
        #expect(second.outputText.contains("\n    disk "))
        #expect(second.outputText.contains("hit, "))
    }

    @Test("C23 L26 the second start reads a size that was costly to make, and --explain says that it is derived")
    func derived() async throws {
        let url = try server.addFile(try TestImages.encoded(as: .jpeg, width: 2_400, height: 1_800), at: "a.jpg")
        for isFirst in [true, false] {
            let result = try await load(["--explain", "--size", "200x150", url])
            #expect(result.status == .exited(0))
            #expect(result.outputText.contains("derived") == !isFirst, "\(result.outputText)")
        }
        #expect(try await server.requests().count == 1)
    }

    @Test("L26 nothing is logged by default; at the level info each load is a line of the standard error")
    func logs() async throws {
        let url = try server.addFile(try TestImages.encoded(as: .jpeg, width: 400, height: 300), at: "a.jpg")
        let missing = server.url + "/missing.jpg"
        func log(_ levels: String?) async throws -> [String] {
            let words = ["load", "--json", "--cache-dir", directory.path(of: "cache"), url, missing]
            let result = try await Subprocess.run(
                EideticProgram.path,
                arguments: words,
                environment: ["EIDETIC_LOG": levels]
            )
            return result.errorText.split(separator: "\n").map(String.init).filter { $0.hasPrefix("eidetic ") }
        }
        #expect(try await log(nil).filter { $0.hasPrefix("eidetic pipeline") } == [])
        let lines = try await log("pipeline=info")
        #expect(lines.contains { $0.hasPrefix("eidetic pipeline info: \(url): 400x300 from disk") }, "\(lines)")
        #expect(lines.contains { $0.hasPrefix("eidetic pipeline info: \(missing): ") && $0.contains("404") })
        #expect(lines.count == 2, "\(lines)")
        let steps = try await log("pipeline=debug").filter { $0.hasPrefix("eidetic pipeline debug: \(url): ") }
        #expect(steps.count == 1 && steps[0].contains("memory") && steps[0].contains("disk"), "\(steps)")
    }

    @Test("L10 --progressive reports partial images while bytes arrive")
    func progressive() async throws {
        struct Line: Decodable {
            let preview: Int?
            let width: Int
            let source: String?
        }
        let gate = Gate(), bytes = try TestImages.encoded(as: .jpeg, width: 400, height: 300)
        let first = Array(bytes.prefix(bytes.count / 2)), rest = Array(bytes.dropFirst(bytes.count / 2))
        let origin = try ScriptedOrigin { _ in
            [.head(200, headers: ["Content-Length": "\(bytes.count)"]), .send(first), .wait(gate), .send(rest)]
        }
        let words = [
            "load", "--cache-dir", directory.path(of: "cache"), "--json", "--progressive", "\(origin.url)/a.jpg",
        ]
        let process = try Subprocess(EideticProgram.path, arguments: words)
        _ = await process.waitForOutput("preview")
        gate.open()
        let lines = try await process.waitUntilExit().lines(Line.self)
        #expect(lines.first?.preview == 1)
        #expect(lines.allSatisfy { $0.width == 400 })
        #expect(lines.last?.source == "network")
    }

    @Test("L06 --option and --cache set the options and the use of caches by their names")
    func options() async throws {
        let url = try server.addFile(try TestImages.encoded(as: .jpeg), at: "a.jpg")
        let offline = try await load(["--cache", "cachedOnly", url])
        #expect(offline.status == .exited(1))
        #expect(offline.errorText.contains("no cache has"))
        _ = try await load(["--cache", "memoryOnly", "--option=retryFailed", url])
        #expect(try await load(["--json", url]).lines(LoadLine.self).map(\.source) == ["network"])
        _ = try await load(["--option", "refreshCached", url])
        #expect(try await server.requests().map(\.status) == [200, 200, 304])
        let wrong = try await load(["--option", "refreshCache", url])
        #expect(wrong.status == .exited(2))
    }
}
