import EideticCore
import EideticStore
import EideticTestSupport

/// A disk cache in a temporary directory, with a clock and system calls under a test's control.
struct DiskFixture {
    let directory: TemporaryDirectory
    let time = ManualTime()
    let plan = FaultPlan()
    let cache: DiskCache

    init(
        environment: any ApplicationEnvironment = ForegroundEnvironment(),
        configure: (inout DiskCache.Configuration) -> Void = { _ in }
    ) throws {
        directory = try TemporaryDirectory(named: "disk-cache")
        var configuration = DiskCache.Configuration(directory: directory.path(of: "cache"))
        configuration.sizeLimit = .mebibytes(64)
        configure(&configuration)
        cache = try DiskCache(
            configuration,
            fileSystem: FileSystem(observer: plan),
            time: time,
            environment: environment
        )
    }

    /// Opens another cache of the same directory, as another process would.
    func secondCache(observer: (any SystemCallObserver)? = nil) throws -> DiskCache {
        try DiskCache(cache.configuration, fileSystem: FileSystem(observer: observer), time: time)
    }
}

/// Returns bytes that depend on their position, their number and a seed.
func pattern(_ count: Int, seed: Int = 0) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { bytes, initializedCount in
        let base = count ^ (seed &* 131)
        for index in 0..<count { bytes[index] = UInt8(truncatingIfNeeded: (index &* 31) ^ (index >> 8) ^ base) }
        initializedCount = count
    }
}

/// Returns the code of the error that `body` throws, or `nil` if it throws none.
func errorCode(_ body: () throws -> Void) -> EideticError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? EideticError)?.code
    }
}

extension DiskFixture {
    /// Returns the usage counted from the files in the directory.
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

/// Removes a directory with its contents.
func removeTree(_ path: String) throws {
    let files = FileSystem()
    guard try files.linkStatus(of: path).kind == .directory else { return try files.unlink(path) }
    for name in try files.entryNames(in: path) { try removeTree("\(path)/\(name)") }
    try files.removeDirectory(path)
}
