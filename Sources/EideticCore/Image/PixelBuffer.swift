import Glibc

/// Pixels in memory: red, green, blue, alpha, 8 bits each, row by row from the top, in sRGB unless told otherwise.
///
/// A buffer never changes once it is made, so it can be handed to any thread, to a toolkit or to a file without a copy.
public final class PixelBuffer: Sendable {
    /// What the fourth byte of a pixel means.
    public enum Alpha: String, Sendable, Hashable {
        /// Always 255.
        case opaque
        /// Colours are not multiplied by alpha.
        case straight
        /// Colours are multiplied by alpha.
        case premultiplied
    }

    /// Width and height.
    public let size: PixelSize
    /// Bytes from one row's start to the next one's; at least four times the width.
    public let bytesPerRow: Int
    /// What the fourth byte of a pixel means.
    public let alpha: Alpha

    // Safe to send: nobody writes to the memory after `init`.
    private nonisolated(unsafe) let baseAddress: UnsafeMutableRawPointer
    private let release: @Sendable () -> Void

    /// Makes a buffer and lets `fill` write its pixels, row by row; the memory is not cleared before.
    ///
    /// - Throws: `outOfMemory` where the machine has none, `limitExceeded` where the size is not positive or does not
    ///   fit into 2⁴⁸ bytes, and what `fill` throws.
    public init(
        size: PixelSize,
        alpha: Alpha,
        fill: (_ pixels: UnsafeMutableRawBufferPointer, _ bytesPerRow: Int) throws(EideticError) -> Void
    ) throws(EideticError) {
        guard size.isPositive, size.pixelCount < 1 << 46 else {
            throw EideticError(.limitExceeded, message: "a picture of \(size) pixels cannot be made")
        }
        let count = size.pixelCount * 4
        guard let memory = PixelMemory.allocate(byteCount: count) else {
            throw EideticError(.outOfMemory, message: "no memory for a picture of \(size) pixels")
        }
        do throws(EideticError) {
            try fill(UnsafeMutableRawBufferPointer(start: memory, count: count), size.width * 4)
        } catch {
            free(memory)
            throw error
        }
        // Safe to send: only the last owner's end frees it, once.
        nonisolated(unsafe) let owned = memory
        self.size = size
        self.bytesPerRow = size.width * 4
        self.alpha = alpha
        baseAddress = memory
        release = { free(owned) }
    }

    /// Transparent pixels; they take addresses, and no memory.
    static func transparent(size: PixelSize) -> PixelBuffer {
        let count = size.pixelCount * 4
        let memory = mmap(nil, count, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
        guard let memory, memory != MAP_FAILED else { fatalError("no addresses for a picture of \(size) pixels") }
        // Safe to send: only the last owner's end unmaps it, once.
        nonisolated(unsafe) let owned = memory
        return PixelBuffer(adopting: memory, size: size, bytesPerRow: size.width * 4, alpha: .premultiplied) {
            munmap(owned, count)
        }
    }

    /// Takes memory over that somebody else filled, and that must not change any more; `release` gives it back.
    package init(
        adopting memory: UnsafeMutableRawPointer,
        size: PixelSize,
        bytesPerRow: Int,
        alpha: Alpha,
        release: @escaping @Sendable () -> Void
    ) {
        precondition(bytesPerRow >= size.width * 4)
        self.size = size
        self.bytesPerRow = bytesPerRow
        self.alpha = alpha
        baseAddress = memory
        self.release = release
    }

    deinit { release() }

    /// The memory that the pixels take.
    public var byteCount: ByteCount { ByteCount(bytesPerRow * size.height) }

    /// Gives `body` all rows; the pointer is valid within it only.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: baseAddress, count: bytesPerRow * size.height))
    }

    /// All rows, where they lie as long as somebody holds the buffer; for toolkits that show them without a copy.
    package var unsafeBytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: baseAddress, count: bytesPerRow * size.height)
    }

    /// The pixel at a place: red, green, blue, alpha as stored.
    ///
    /// - Precondition: The place lies within the size.
    public subscript(x: Int, y: Int) -> SIMD4<UInt8> {
        precondition((0..<size.width).contains(x) && (0..<size.height).contains(y))
        return baseAddress.loadUnaligned(fromByteOffset: y * bytesPerRow + 4 * x, as: SIMD4<UInt8>.self)
    }
}
