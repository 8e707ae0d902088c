import EideticCore
import EideticStore
import EideticTestSupport

/// A disk cache in a directory of its own, with a clock and system calls that a test controls.
struct DiskFixture {
    let directory: TemporaryDirectory
    let time = ManualTime()
    let plan = FaultPlan()
    let cache: DiskCache

    init(_ change: (inout DiskCache.Configuration) -> Void = { _ in }) throws {
        directory = try TemporaryDirectory("disk-cache")
        var configuration = DiskCache.Configuration(directory: directory.path("cache"))
        configuration.sizeLimit = .mebibytes(64)
        change(&configuration)
        cache = try DiskCache(configuration, fileSystem: FileSystem(observer: plan), time: time)
    }

    /// Another cache at the same directory, as another process would open it.
    func second(observer: (any SystemCallObserver)? = nil) throws -> DiskCache {
        try DiskCache(cache.configuration, fileSystem: FileSystem(observer: observer), time: time)
    }
}

/// Bytes that differ with their position and their number.
func pattern(_ count: Int, seed: Int = 0) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: ($0 &* 31) ^ ($0 >> 8) ^ count ^ (seed &* 131)) }
}

/// The code of the error that `body` throws.
func code(_ body: () throws -> Void) -> EideticError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? EideticError)?.code
    }
}
