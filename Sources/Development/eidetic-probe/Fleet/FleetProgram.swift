#if Redis
import Eidetic
import EideticCore
import EideticRedis
import EideticStore
import Glibc

/// A machine of a fleet: a program that loads the URLs of its standard input with a disk cache of its own and a shared
/// tier, in an order of its own.
///
///     eidetic-probe fleet REDIS-URL DIRECTORY [LEASE] < LIST
///
/// LEASE is the duration of its leases in milliseconds. It prints the number of images from each source, and a line for
/// each failed load; exit status 1 if one has failed, 2 if it cannot begin. Without a /proc of its own PID namespace it
/// has no arguments: Swift reads them there.
enum FleetProgram {
    static func run(_ arguments: [String]) async throws {
        guard 2...3 ~= arguments.count else {
            throw EideticError(
                .invalidArgument,
                message: "usage: eidetic-probe fleet REDIS-URL DIRECTORY [LEASE] < LIST"
            )
        }
        let lease = arguments.dropFirst(2).first.flatMap(Int.init)
        let pipeline = try makePipeline(redis: arguments[0], directory: arguments[1], lease: lease)
        var urls: [String] = []
        while let line = readLine() { urls.append(line) }
        let counts = await load(urls.shuffled(), with: pipeline)
        let total = counts.values.reduce(0, +)
        write(counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
        exit(total == urls.count && counts["failed"] == nil ? 0 : 1)
    }

    /// Writes a line at once, so that a test sees it.
    private static func write(_ line: String) {
        let bytes = Array("\(line)\n".utf8)
        _ = Glibc.write(1, bytes, bytes.count)
    }

    private static func makePipeline(redis: String, directory: String, lease: Int?) throws -> ImagePipeline {
        var configuration = ImagePipeline.Configuration(diskCache: try DiskCache(.init(directory: directory)))
        var tier = try RedisTier.Configuration(url: redis)
        // On a busy machine a live process may be late with a reply or a renewal, which is no failure.
        tier.timeout = .seconds(2)
        tier.retryInterval = .milliseconds(200)
        if let lease { tier.leaseDuration = .milliseconds(lease) }
        configuration.sharedTier = try RedisTier(tier)
        configuration.freshness = .http
        return ImagePipeline(configuration)
    }

    /// Loads all images, some at a time, and returns the number from each source.
    private static func load(_ urls: [String], with pipeline: ImagePipeline) async -> [String: Int] {
        await withTaskGroup(of: String.self) { group in
            var counts: [String: Int] = [:], rest = urls[...]
            for url in rest.prefix(8) { group.addTask { await source(of: url, with: pipeline) } }
            rest = rest.dropFirst(8)
            while let source = await group.next() {
                counts[source, default: 0] += 1
                if let url = rest.popFirst() { group.addTask { await Self.source(of: url, with: pipeline) } }
            }
            return counts
        }
    }

    private static func source(of url: String, with pipeline: ImagePipeline) async -> String {
        do throws(EideticError) {
            let response = try await pipeline.response(for: ImageRequest(url, cachePolicy: .afterStorage))
            write("loaded \(url)")
            return "\(response.source)"
        } catch {
            write("\(url): \(error)")
            return "failed"
        }
    }
}
#endif
