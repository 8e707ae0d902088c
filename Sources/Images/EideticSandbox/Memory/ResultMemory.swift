import CLinux
import EideticCore
import Glibc

/// Shared memory into which a decoding process writes pixels that this process reads without a copy.
///
/// It is used again for other images: a process gets a descriptor that was opened for writing for one image, and the
/// pixels are read once nobody has the memory open for writing any more, which the kernel knows. Where this cannot be
/// had, as without `/proc`, the memory is sealed instead, and used once.
final class ResultMemory: Sendable {
    private enum Kind {
        /// Read by this mapping, which stays, and reopened for writing.
        case reusable(MappedMemory)
        case sealed
    }

    /// The number of bytes, which fill whole pages.
    let byteCount: Int
    private let kind: Kind
    /// The memory; if it is reusable, opened for reading only.
    private let memory: SharedMemory
    private let isPopulated = Guarded(false)
    /// The place among the memories that keep a descriptor.
    private let place: ReusableMemoryCount.Place?

    /// Creates memory of at least `byteCount` bytes.
    init(byteCount: Int, reusableCount count: ReusableMemoryCount?) throws(EideticError) {
        let memory = try SharedMemory(byteCount: byteCount)
        self.byteCount = memory.byteCount
        guard let place = count?.place(), let reader = memory.reopened(writable: false), reader.hasNoWriters,
            let mapped = try? MappedMemory(descriptor: reader.rawValue, byteCount: memory.byteCount, access: .read),
            memory.forbidSeals()
        else {
            self.memory = memory
            kind = .sealed
            place = nil
            return
        }
        self.memory = reader
        kind = .reusable(mapped)
        self.place = place
    }

    /// A Boolean value indicating whether other images can use the memory afterwards.
    var isReusable: Bool { if case .reusable = kind { true } else { false } }

    /// Returns a descriptor for a process, which is closed with the result.
    func opened() throws(EideticError) -> SharedMemory {
        guard isReusable else { return memory }
        guard let opened = memory.reopened(writable: true) else {
            throw EideticError(.sandboxUnavailable, message: "cannot open shared memory of \(byteCount) bytes again")
        }
        return opened
    }

    /// Returns the bytes, which no process can change any more; throws `decoderFailed` if a process still can.
    func read() throws(EideticError) -> MappedMemory {
        guard case .reusable(let mapped) = kind else { return try memory.seal() }
        guard losesWriters() else {
            throw EideticError(.decoderFailed, message: "the decoding process keeps its pixels writable")
        }
        populateForReading()
        return mapped
    }

    /// Waits up to 20 ms until no process can write; returns `false` if one still can.
    ///
    /// A child of this process that is being started has copies of its descriptors for a moment.
    private func losesWriters() -> Bool {
        for _ in 0..<20 {
            if memory.hasNoWriters { return true }
            usleep(1_000)
        }
        return memory.hasNoWriters
    }

    /// Accesses all pages, so that neither this process nor another one waits for new ones.
    func populate() {
        guard let opened = try? opened(), let writable = try? opened.map() else { return }
        writable.populate()
        populateForReading()
    }

    /// Accesses all pages of the mapping that stays, the first time.
    private func populateForReading() {
        guard case .reusable(let mapped) = kind else { return }
        let isFirst = isPopulated.withLock { isPopulated in
            defer { isPopulated = true }
            return !isPopulated
        }
        if isFirst { mapped.populateForReading() }
    }
}
