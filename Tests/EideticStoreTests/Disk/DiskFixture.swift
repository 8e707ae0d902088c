import EideticCore
import EideticStore
import EideticTestSupport

/// A disk cache in a directory of its own, with a clock and system calls that a test controls.
struct DiskFixture {
    let directory: TemporaryDirectory
    let time = ManualTime()
    let plan = FaultPlan()
    let cache: DiskCache

    init(
        environment: any ApplicationEnvironment = ForegroundEnvironment(),
        configure change: (inout DiskCache.Configuration) -> Void = { _ in }
    ) throws {
        directory = try TemporaryDirectory(named: "disk-cache")
        var configuration = DiskCache.Configuration(directory: directory.path(of: "cache"))
        configuration.sizeLimit = .mebibytes(64)
        change(&configuration)
        cache = try DiskCache(
            configuration,
            fileSystem: FileSystem(observer: plan),
            time: time,
            environment: environment
        )
    }

    /// Another cache at the same directory, as another process would open it.
    func secondCache(observer: (any SystemCallObserver)? = nil) throws -> DiskCache {
        try DiskCache(cache.configuration, fileSystem: FileSystem(observer: observer), time: time)
    }
}

/// Bytes that differ with their position and their number.
func pattern(_ count: Int, seed: Int = 0) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: ($0 &* 31) ^ ($0 >> 8) ^ count ^ (seed &* 131)) }
}

/// The code of the error that `body` throws.
func errorCode(_ body: () throws -> Void) -> EideticError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? EideticError)?.code
    }
}

extension DiskFixture {
    /// What stands in the directory, counted.
    func measuredUsage() throws -> DiskCache.Usage {
        var usage = DiskCache.Usage()
        let root = cache.configuration.directory
        let files = FileSystem()
        for shard in try files.entryNames(in: root) where shard.utf8.count == 2 {
            for name in try files.entryNames(in: "\(root)/\(shard)") {
                let status = try files.linkStatus(of: "\(root)/\(shard)/\(name)")
                usage.entryCount += 1
                usage.logicalSize = usage.logicalSize + ByteCount(status.size)
                usage.allocatedSize = usage.allocatedSize + ByteCount(status.allocatedSize)
            }
        }
        return usage
    }
}

/// Removes a directory with all that is in it.
func removeTree(_ path: String) throws {
    let files = FileSystem()
    guard try files.linkStatus(of: path).kind == .directory else { return try files.unlink(path) }
    for name in try files.entryNames(in: path) { try removeTree("\(path)/\(name)") }
    try files.removeDirectory(path)
}
