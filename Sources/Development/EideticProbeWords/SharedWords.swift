package import EideticCore
import Glibc
import Synchronization

/// A file of 64-bit words that several processes map, and access atomically.
package final class SharedWords: @unchecked Sendable {
    // Safe to send: the memory is accessed by atomic operations only, and unmapped after the last use.
    private let memory: UnsafeMutableRawPointer
    private let size: Int

    /// Maps a file, which is created and enlarged if necessary.
    package init(path: String, count: Int) throws(SystemError) {
        let files = FileSystem()
        let file = try files.open(path, flags: O_RDWR | O_CREAT, mode: 0o600)
        size = 8 * count
        var status = stat()
        guard fstat(file.rawValue, &status) == 0 else { throw SystemError(.fstat, errorNumber: errno, path: path) }
        if status.st_size < size { try files.truncate(file, to: size) }
        let address = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.rawValue, 0)
        guard let address, address != MAP_FAILED else { throw SystemError(.mmap, errorNumber: errno, path: path) }
        memory = address
    }

    deinit { munmap(memory, size) }

    package subscript(index: Int) -> UInt64 {
        get { word(index).pointee.load(ordering: .sequentiallyConsistent) }
        set { word(index).pointee.store(newValue, ordering: .sequentiallyConsistent) }
    }

    private func word(_ index: Int) -> UnsafeMutablePointer<Atomic<UInt64>> {
        precondition(index >= 0 && 8 * index < size, "word \(index) is outside of the file")
        return (memory + 8 * index).assumingMemoryBound(to: Atomic<UInt64>.self)
    }
}
