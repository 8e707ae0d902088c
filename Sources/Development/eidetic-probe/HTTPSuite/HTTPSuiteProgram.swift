import Eidetic
import EideticCore
import EideticFetch
import EideticHTTP
import EideticStore
import Glibc

/// Loads images as `Sources/Development/http-suite/run.mjs` asks for: the cache under test of a public suite.
///
///     eidetic-probe http-suite
///
/// Each line of the input is a command: its number, its name, the test, and items `name=value`, separated by tabs, with
/// percent-encoded values. `open` has a `directory`; `load` a `url`, `fields` and `refresh`; `forget` empties memory.
/// Each line of the output has the number of a command and items of its result.
enum HTTPSuiteProgram {
    static func run() async {
        let caches = HTTPSuiteCaches()
        await withDiscardingTaskGroup { group in
            while let line = readLine() {
                guard let command = HTTPSuiteCommand(line) else { fail("unknown command: \(line)") }
                group.addTask { printLine(await caches.reply(to: command)) }
            }
        }
    }
}

/// A line of the input.
private struct HTTPSuiteCommand: Sendable {
    let number: Substring
    let name: Substring
    let test: Substring
    private let items: [Substring: String]

    init?(_ line: String) {
        let words = line.split(separator: "\t")
        guard words.count >= 3 else { return nil }
        number = words[0]
        name = words[1]
        test = words[2]
        let pairs = words[3...].map { $0.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false) }
        guard pairs.allSatisfy({ $0.count == 2 }) else { return nil }
        items = Dictionary(
            pairs.map { ($0[0], String(decoding: DataURL.percentDecoded($0[1].utf8), as: UTF8.self)) },
            uniquingKeysWith: { $1 }
        )
    }

    subscript(name: String) -> String { items[name[...]] ?? "" }

    /// The header fields of a load, one a line.
    var fields: HTTPHeaders {
        HTTPHeaders(
            self["fields"].split(separator: "\n").map { line in
                let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                return .init(name: String(parts[0]), value: parts.count > 1 ? String(parts[1]) : "")
            }
        )
    }
}

/// The pipelines of all tests, each with a directory of its own.
private actor HTTPSuiteCaches {
    private var pipelines: [Substring: ImagePipeline] = [:]

    func reply(to command: HTTPSuiteCommand) async -> String {
        var items: [String] = []
        do {
            switch command.name {
            case "open": pipelines[command.test] = try Self.open(command["directory"])
            case "forget": pipelines[command.test]?.cache.memory.images.removeAll()
            case "load":
                guard let pipeline = pipelines[command.test] else { fail("no pipeline for \(command.test)") }
                items = try await Self.load(command, in: pipeline)
            default: pipelines[command.test] = nil
            }
        } catch {
            items = [Self.item("fault", value: "\(error)")]
        }
        return ([String(command.number)] + items).joined(separator: "\t")
    }

    private static func open(_ directory: String) throws -> ImagePipeline {
        let disk = try DiskCache(DiskCache.Configuration(directory: directory))
        var configuration = ImagePipeline.Configuration(diskCache: disk)
        configuration.downloads.proxy = .none
        configuration.freshness = .http
        return ImagePipeline(configuration)
    }

    /// Loads an image; its first pixel says which response it is.
    private static func load(_ command: HTTPSuiteCommand, in pipeline: ImagePipeline) async throws -> [String] {
        var remote = try FetchRequest(url: command["url"])
        remote.headers = command.fields
        let options: ImageOptions = command["refresh"] == "true" ? .refreshCached : []
        let request = ImageRequest(.remote(remote), options: options, cachePolicy: .afterStorage)
        var items: [String] = []
        do throws(EideticError) {
            let response = try await pipeline.response(for: request)
            let pixel = response.image.pixels[0, 0]
            items = [item("number", value: "\(pixel.x)"), item("source", value: "\(response.source)")]
            items.append(item("steps", value: "\(response.trace)"))
        } catch {
            items = [item("error", value: "\(error)"), item("status", value: error.httpStatus.map(String.init) ?? "")]
        }
        guard let disk = pipeline.configuration.diskCache else { return items }
        for key in try await disk.entries().map(\.key) {
            guard let entry = try disk.blocking.read(key, allowingExpired: true) else { continue }
            let fields = entry.metadata.headers.map { "\($0.name):\($0.value)" }.joined(separator: "\n")
            items.append(item("fields of \(Digest(sha256: entry.bytes).hexadecimal)", value: fields))
        }
        return items
    }

    private static func item(_ name: String, value: String) -> String {
        let plain = UInt8(ascii: "0")...UInt8(ascii: "z")
        let text = value.fieldBytes.map { byte in
            plain.contains(byte)
                ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return "\(name)=\(text.joined())"
    }
}
