package import EideticCore
package import EideticStore

/// The settings of the stress test, in the order of a worker's command line.
package struct StressTestSettings: Sendable {
    package let directory: String
    package let limit: Int
    /// The number of this worker among those of one directory.
    package let worker: Int
    package let seed: UInt64
    /// The least number of operations of each thread.
    package let stepCount: Int
    /// The shortest duration of the test in seconds.
    package let seconds: Int

    package static let threadCount = 8
    package static let workerCount = 2

    package var arguments: [String] {
        ["storm", directory] + ["\(limit)", "\(worker)", "\(seed)", "\(stepCount)", "\(seconds)"]
    }

    package init(directory: String, limit: Int, worker: Int, seed: UInt64, steps: Int, seconds: Int) {
        self.directory = directory
        self.limit = limit
        self.worker = worker
        self.seed = seed
        self.stepCount = steps
        self.seconds = seconds
    }

    package init?(_ arguments: [String]) {
        guard arguments.count == 7, let limit = Int(arguments[2]), let worker = Int(arguments[3]),
            let seed = UInt64(arguments[4]), let steps = Int(arguments[5]), let seconds = Int(arguments[6])
        else { return nil }
        self.init(directory: arguments[1], limit: limit, worker: worker, seed: seed, steps: steps, seconds: seconds)
    }

    /// A Boolean value indicating whether the limit is small enough to evict entries.
    var evicts: Bool { limit < 1 << 26 }

    package func openCache() throws(EideticError) -> DiskCache {
        var configuration = DiskCache.Configuration(directory: directory)
        configuration.sizeLimit = ByteCount(limit)
        configuration.minimumFreeSpace = .zero
        return try DiskCache(configuration)
    }
}
