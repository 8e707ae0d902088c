import EideticCore
package import EideticStore
import Glibc

/// What the proof by kills does: its settings, in the order in which they stand on a worker's command line.
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
        (self.directory, self.journal, self.limit, self.worker, self.seed) = (directory, journal, limit, worker, seed)
    }

    package init?(_ arguments: [String]) {
        guard arguments.count == 6, let limit = Int(arguments[3]), let worker = Int(arguments[4]),
            let seed = UInt64(arguments[5])
        else { return nil }
        self.init(directory: arguments[1], journal: arguments[2], limit: limit, worker: worker, seed: seed)
    }

    /// The cache as every process of the proof opens it.
    package func openCache() throws -> DiskCache {
        var configuration = DiskCache.Configuration(directory: directory)
        configuration.sizeLimit = ByteCount(limit)
        configuration.minimumFreeSpace = .zero
        return try DiskCache(configuration)
    }
}

/// A generator whose numbers can be had again from the seed.
package struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}

/// The one value that belongs to a key and a version, so that every answer can be checked byte for byte.
package enum CrashTestValue {
    package static func bytes(key: Int, version: UInt32) -> [UInt8] {
        var generator = SeededGenerator(seed: UInt64(key) << 32 | UInt64(version))
        let size = version % 7 == 0 ? Int(generator.next() % 200_000) : Int(generator.next() % 9_000)
        return (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 131 ^ key ^ Int(version) &* 7) }
    }

    package static func key(_ key: Int) -> String { "https://example.org/\(key).jpeg" }
}

/// For each key what was done last and what is being done: what a worker promised before it was killed.
package final class CrashTestJournal {
    /// A version; 0 stands for "removed".
    package struct Record: Equatable {
        package var committedVersion: UInt32
        package var pendingVersion: UInt32

        package init(committedVersion: UInt32 = 0, pendingVersion: UInt32 = 0) {
            (self.committedVersion, self.pendingVersion) = (committedVersion, pendingVersion)
        }
    }

    private let file: FileDescriptor
    private let files = FileSystem()

    package init(_ path: String) throws {
        file = try files.open(path, flags: O_RDWR | O_CREAT)
        try files.truncate(file, to: CrashTestSettings.keyCount * 8)
    }

    package func record(for key: Int) throws -> Record {
        var bytes: UInt64 = 0
        let count = try withUnsafeMutableBytes(of: &bytes) { try files.read(file, at: key * 8, into: $0) }
        guard count == 8 else { throw EideticError(.truncated, message: "journal") }
        return Record(
            committedVersion: UInt32(truncatingIfNeeded: bytes),
            pendingVersion: UInt32(truncatingIfNeeded: bytes >> 32)
        )
    }

    package func setRecord(_ key: Int, to slot: Record) throws {
        let bytes = UInt64(slot.committedVersion) | UInt64(slot.pendingVersion) << 32
        try withUnsafeBytes(of: bytes) { try files.write($0, to: file, at: key * 8) }
    }
}
