import EideticCore
import Glibc

/// A journal of the versions that a worker committed, and was writing, before it was killed.
package final class CrashTestJournal {
    /// The versions of a key; 0 stands for a removed entry.
    package struct Record: Equatable {
        package var committedVersion: UInt32
        package var pendingVersion: UInt32

        package init(committedVersion: UInt32 = 0, pendingVersion: UInt32 = 0) {
            self.committedVersion = committedVersion
            self.pendingVersion = pendingVersion
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
        guard count == 8 else { throw EideticError(.truncated, message: "the journal is incomplete") }
        return Record(
            committedVersion: UInt32(truncatingIfNeeded: bytes),
            pendingVersion: UInt32(truncatingIfNeeded: bytes >> 32)
        )
    }

    package func setRecord(_ record: Record, for key: Int) throws {
        let bytes = UInt64(record.committedVersion) | UInt64(record.pendingVersion) << 32
        try withUnsafeBytes(of: bytes) { try files.write($0, to: file, at: key * 8) }
    }
}
