#if Redis
import Eidetic
import EideticCore
import EideticRedis
import EideticStore
import EideticTestSupport
import Testing

/// An origin, a Redis server, and machines with a pipeline and a disk cache of their own.
struct Fleet {
    let origin: Nginx
    let redis: RedisProcess
    private let directory: TemporaryDirectory

    init(server: String = "", usesTLS: Bool = false) async throws {
        origin = try await Nginx(.init(server: server, usesTLS: usesTLS))
        redis = try await RedisProcess()
        directory = try TemporaryDirectory(named: "fleet")
    }

    func makeTier(_ change: (inout RedisTier.Configuration) -> Void = { _ in }) throws -> RedisTier {
        var configuration = try RedisTier.Configuration(url: redis.url)
        // Slow machines are no failure of the tier.
        configuration.timeout = .seconds(2)
        change(&configuration)
        return try RedisTier(configuration)
    }

    /// Returns the pipeline of a further machine.
    func makeMachine(_ change: (inout ImagePipeline.Configuration) -> Void = { _ in }) throws -> ImagePipeline {
        let path = directory.path(of: "\(UInt64.random(in: 0...UInt64.max))")
        var configuration = ImagePipeline.Configuration(diskCache: try DiskCache(.init(directory: path)))
        configuration.freshness = .http
        configuration.sharedTier = try makeTier()
        change(&configuration)
        return ImagePipeline(configuration)
    }

    /// Adds an image to the origin, and returns a request whose response waits until the image is stored everywhere.
    func serve(_ name: String, width: Int = 64, height: Int = 48, isNoisy: Bool = false) throws -> ImageRequest {
        let bytes = try Self.png(width: width, height: height, isNoisy: isNoisy)
        return ImageRequest(try origin.addFile(bytes, at: name), cachePolicy: .afterStorage)
    }

    /// Returns an image whose pixels are their positions, or noise that cannot be compressed.
    static func png(width: Int, height: Int, isNoisy: Bool = false) throws -> [UInt8] {
        let size = PixelSize(width: width, height: height)
        let pixels = try PixelBuffer(size: size, alpha: .opaque) { target, _ throws(EideticError) in
            for pixel in 0..<width * height {
                let noise = UInt8(truncatingIfNeeded: (pixel &* 2_654_435_761) >> 13)
                target[4 * pixel] = UInt8(truncatingIfNeeded: pixel % width)
                target[4 * pixel + 1] = isNoisy ? noise : UInt8(truncatingIfNeeded: pixel / width)
                target[4 * pixel + 2] = isNoisy ? noise &* 31 : 7
                target[4 * pixel + 3] = 255
            }
        }
        return try Image(frames: [.init(pixels: pixels)], format: .png, sourceSize: size).encoded(as: .png)
    }
}

extension ImageRequest {
    /// The URL of a remote image.
    var url: String { resource.remote?.url ?? "" }
}

extension RedisProcess {
    /// Runs a command.
    func run(_ arguments: [String]) async throws {
        _ = try await Subprocess.run("redis-cli", arguments: ["-p", "\(port)"] + arguments)
    }
}

/// A tier that records the keys that are searched.
final class RecordingTier: SharedTier {
    private let base: RedisTier
    private let onLease: @Sendable () -> Void
    private let recorded = Guarded<[String]>([])
    private let recordedChanges = Guarded<[SharedLease.Change]>([])

    /// Creates a tier that calls `onLease` before each attempt to acquire a lease.
    init(_ base: RedisTier, onLease: @escaping @Sendable () -> Void = {}) {
        (self.base, self.onLease) = (base, onLease)
    }

    var keys: [String] { recorded.withLock { $0 } }
    /// The changes of leases other than renewals.
    var changes: [SharedLease.Change] { recordedChanges.withLock { $0 } }
    var valueLimit: ByteCount { base.valueLimit }
    var leaseDuration: Duration { base.leaseDuration }

    func lookUp(_ key: String, leasing lease: SharedLease?) async throws(EideticError) -> SharedLookup {
        recorded.withLock { $0.append(key) }
        if lease != nil { onLease() }
        return try await base.lookUp(key, leasing: lease)
    }

    func insert(_ value: [UInt8], for key: String, timeToLive: Duration) async throws(EideticError) {
        try await base.insert(value, for: key, timeToLive: timeToLive)
    }

    func remove(_ key: String, ifEqualTo value: [UInt8]?) async throws(EideticError) {
        try await base.remove(key, ifEqualTo: value)
    }

    func update(_ lease: SharedLease, of key: String, to change: SharedLease.Change) async throws(EideticError) {
        if change != .renewed { recordedChanges.withLock { $0.append(change) } }
        try await base.update(lease, of: key, to: change)
    }
}

#endif
