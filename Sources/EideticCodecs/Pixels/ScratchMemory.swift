import EideticCore
import Glibc

/// Memory that lives as long as its owner.
///
/// An array ends the process where the machine has no memory; how much is asked for here is up to a file, so it must be
/// an error.
struct ScratchBuffer: ~Copyable {
    let bytes: UnsafeMutableRawBufferPointer

    /// - Throws: `outOfMemory`.
    init(byteCount: Int) throws(EideticError) {
        guard let memory = PixelMemory.allocate(byteCount: byteCount) else {
            throw EideticError(.outOfMemory, message: "no memory for \(byteCount) bytes")
        }
        bytes = UnsafeMutableRawBufferPointer(start: memory, count: byteCount)
    }

    deinit { free(bytes.baseAddress) }
}
