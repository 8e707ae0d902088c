import EideticCore
package import EideticStore

/// The settings of the crash test, in the order of a worker's command line.
package struct CrashTestSettings {
    package let directory: String
    package let journal: String
    package let limit: Int
    package let worker: Int
    package let seed: UInt64

    package static let keyCount = 96
    package static let workerCount = 2

    package var arguments: [String] { ["kill", directory, journal, "\(limit)", "\(worker)", "\(seed)"] }

    package init(directory: String, journal: String, limit: Int, worker: Int, seed: UInt64) {
        self.directory = directory
        self.journal = journal
        self.limit = limit
        self.worker = worker
        self.seed = seed
    }

    package init?(_ arguments: [String]) {
        guard arguments.count == 6, let limit = Int(arguments[3]), let worker = Int(arguments[4]),
            let seed = UInt64(arguments[5])
        else { return nil }
        self.init(directory: arguments[1], journal: arguments[2], limit: limit, worker: worker, seed: seed)
    }

    /// Opens the cache with the settings that all processes of the test share.
    package func openCache() throws -> DiskCache {
        var configuration = DiskCache.Configuration(directory: directory)
        configuration.sizeLimit = ByteCount(limit)
        configuration.minimumFreeSpace = .zero
        return try DiskCache(configuration)
    }
}
