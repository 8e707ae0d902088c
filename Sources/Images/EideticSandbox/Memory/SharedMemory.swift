import CLinux
package import EideticCore
import Glibc

/// Memory that this process shares with another one, by a descriptor; its size is fixed.
package final class SharedMemory: Sendable {
    /// The number of bytes, which fill whole pages.
    package let byteCount: Int
    private let descriptor: Guarded<Int32>

    /// Creates memory of at least `byteCount` bytes; throws `sandboxUnavailable` without a descriptor or room for it.
    package init(byteCount: Int) throws(EideticError) {
        let page = Int(getpagesize())
        self.byteCount = (max(1, byteCount) + page - 1) / page * page
        let number = eidetic_create_memory(self.byteCount)
        guard number >= 0 else {
            let reason = SystemError.message(for: errno)
            throw EideticError(.sandboxUnavailable, message: "no shared memory of \(byteCount) bytes: \(reason)")
        }
        descriptor = Guarded(number)
    }

    private init(adopting number: Int32, byteCount: Int) {
        descriptor = Guarded(number)
        self.byteCount = byteCount
    }

    deinit { descriptor.withLock { _ = close($0) } }

    /// Opens the memory once more, for reading or for writing as well; `nil` if the system refuses.
    func reopened(writable: Bool) -> SharedMemory? {
        let number = eidetic_reopen_memory(rawValue, writable ? 1 : 0)
        return number < 0 ? nil : SharedMemory(adopting: number, byteCount: byteCount)
    }

    /// Forbids all processes to seal the memory, which would then be lost for other images.
    ///
    /// - Returns: `false` if the system refuses.
    func forbidSeals() -> Bool { fcntl(rawValue, Self.addSeals, Self.sealSeal) == 0 }

    /// `F_ADD_SEALS` and `F_SEAL_SEAL`, which Swift does not import.
    private static let addSeals: Int32 = 1_033
    private static let sealSeal: Int32 = 1

    /// A Boolean value indicating whether no process can write to the memory, which was opened for reading.
    var hasNoWriters: Bool { eidetic_has_no_writers(rawValue) == 1 }

    /// The number of the descriptor, to be passed to another process.
    package var rawValue: Int32 { descriptor.withLock { $0 } }

    package func map() throws(EideticError) -> MappedMemory {
        try MappedMemory(descriptor: rawValue, byteCount: byteCount, access: .readWrite)
    }

    /// Forbids all processes to change the memory by mappings that they make from now on, where the system can.
    func forbidWriters() { _ = eidetic_forbid_writers(rawValue) }

    /// Forbids all processes to change the memory from now on, and maps it.
    ///
    /// - Throws: `decoderFailed` if a process still has it mapped for writing.
    package func seal() throws(EideticError) -> MappedMemory {
        guard eidetic_seal_memory(rawValue) == 0 else {
            let reason = SystemError.message(for: errno)
            throw EideticError(.decoderFailed, message: "the decoding process keeps its pixels writable: \(reason)")
        }
        return try MappedMemory(descriptor: rawValue, byteCount: byteCount, access: .sealed)
    }
}

/// A mapping of shared memory, removed with the object.
///
/// Unchecked: the address and the size never change; the owner of the object decides who uses the bytes when.
package final class MappedMemory: @unchecked Sendable {
    /// The purpose of a mapping.
    package enum Access {
        case read, readWrite
        /// Reading memory that nobody can change; its pages are accessed at once, which is faster than one by one.
        case sealed
    }

    package let base: UnsafeMutableRawPointer
    package let byteCount: Int

    /// `MADV_POPULATE_READ` and `MADV_POPULATE_WRITE`, which the C library's headers lack.
    private static let populateRead: Int32 = 22
    private static let populateWrite: Int32 = 23

    /// Maps the memory of a descriptor; throws `outOfMemory`.
    package init(descriptor: Int32, byteCount: Int, access: Access) throws(EideticError) {
        let protection = access == .readWrite ? PROT_READ | PROT_WRITE : PROT_READ
        // Before Linux 6.7 sealed memory cannot be mapped as shared.
        let kind = access == .sealed ? MAP_PRIVATE : MAP_SHARED
        guard byteCount > 0, let memory = mmap(nil, byteCount, protection, kind, descriptor, 0), memory != MAP_FAILED
        else {
            throw EideticError(.outOfMemory, message: "cannot map \(byteCount) bytes of shared memory")
        }
        base = memory
        self.byteCount = byteCount
        if access == .sealed { madvise(base, byteCount, Self.populateRead) }
    }

    deinit { munmap(base, byteCount) }

    /// Accesses all pages at once for writing; before Linux 5.14 nothing.
    package func populate() { Self.populate(base, byteCount: byteCount) }

    /// Accesses pages of a mapping for writing.
    static func populate(_ base: UnsafeMutableRawPointer, byteCount: Int) { madvise(base, byteCount, populateWrite) }

    /// Accesses all pages at once for reading; before Linux 5.14 nothing.
    func populateForReading() { madvise(base, byteCount, Self.populateRead) }

    /// The first `count` bytes.
    package func bytes(count: Int) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }
}
