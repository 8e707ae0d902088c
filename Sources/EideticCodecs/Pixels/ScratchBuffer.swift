import EideticCore
import Glibc

/// A temporary buffer that its owner frees.
///
/// An array traps if the allocation fails. The sizes here depend on the file, so a failed allocation must be an error.
struct ScratchBuffer: ~Copyable {
    let bytes: UnsafeMutableRawBufferPointer

    /// Allocates `byteCount` bytes, uninitialized.
    ///
    /// - Throws: `outOfMemory`.
    init(byteCount: Int) throws(EideticError) {
        guard let memory = PixelMemory.allocate(byteCount: byteCount) else {
            throw EideticError(.outOfMemory, message: "cannot allocate \(byteCount) bytes")
        }
        bytes = UnsafeMutableRawBufferPointer(start: memory, count: byteCount)
    }

    deinit { free(bytes.baseAddress) }
}
