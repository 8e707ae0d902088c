import EideticCore

/// A temporary buffer that its owner frees.
///
/// An array traps if the allocation fails. The sizes here depend on the file, so a failed allocation must be an error.
struct ScratchBuffer: ~Copyable {
    let bytes: UnsafeMutableRawBufferPointer
    private let block: PixelMemory.Block

    /// Allocates `byteCount` bytes, uninitialized.
    ///
    /// - Throws: `outOfMemory`.
    init(byteCount: Int) throws(EideticError) {
        guard let block = PixelMemory.allocate(byteCount: byteCount, mayBeLent: false) else {
            throw EideticError(.outOfMemory, message: "cannot allocate \(byteCount) bytes")
        }
        self.init(block, byteCount: byteCount)
    }

    /// Allocates `byteCount` bytes of zero.
    ///
    /// - Throws: `outOfMemory`.
    init(clearedByteCount byteCount: Int) throws(EideticError) {
        guard let block = PixelMemory.allocateCleared(byteCount: byteCount, mayBeLent: false) else {
            throw EideticError(.outOfMemory, message: "cannot allocate \(byteCount) bytes")
        }
        self.init(block, byteCount: byteCount)
    }

    private init(_ block: PixelMemory.Block, byteCount: Int) {
        bytes = UnsafeMutableRawBufferPointer(start: block.memory, count: byteCount)
        self.block = block
    }

    deinit { PixelMemory.deallocate(block) }
}
