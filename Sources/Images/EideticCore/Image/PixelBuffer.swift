import Glibc

/// Pixels in memory: red, green, blue and alpha, 8 bits each, row by row from the top; in sRGB unless stated otherwise.
///
/// A buffer is immutable, so it can be passed to any thread, to a toolkit or to a file without a copy. One of a loaded
/// image that is opaque and grey has a byte a pixel in memory, from which it makes all four when they are read.
public final class PixelBuffer: Sendable {
    /// The meaning of a pixel's fourth byte.
    public enum Alpha: Sendable, Hashable {
        /// The byte is always 255.
        case opaque
        /// Colours are not multiplied by alpha.
        case straight
        /// Colours are multiplied by alpha.
        case premultiplied
    }

    /// The width and the height in pixels.
    public let size: PixelSize
    /// The distance between the starts of two rows of ``withUnsafeBytes(_:)`` in bytes; at least four times the width.
    public let bytesPerRow: Int
    /// The meaning of a pixel's fourth byte.
    public let alpha: Alpha

    /// A function that writes red, green, blue and alpha of pixels for their grey bytes.
    package typealias GreyExpansion =
        @Sendable (
            _ grey: UnsafeRawBufferPointer, _ pixels: UnsafeMutableRawBufferPointer
        ) -> Void

    // Safe to send: the memory is not written after `init`.
    private nonisolated(unsafe) let baseAddress: UnsafeMutableRawPointer
    /// Makes four bytes of each grey one in memory; `nil` if memory has all four.
    private let expandGrey: GreyExpansion?
    private let release: @Sendable () -> Void

    /// Creates a buffer whose pixels `fill` writes, row by row; the memory is not cleared before.
    ///
    /// - Throws: `outOfMemory` if the memory cannot be allocated; `limitExceeded` if the size is not positive or does
    ///   not fit into 2⁴⁸ bytes; the error that `fill` throws.
    public init(
        size: PixelSize,
        alpha: Alpha,
        fill: (_ pixels: UnsafeMutableRawBufferPointer, _ bytesPerRow: Int) throws(EideticError) -> Void
    ) throws(EideticError) {
        guard size.isPositive, size.pixelCount < 1 << 46 else {
            throw EideticError(
                .limitExceeded,
                message: "cannot create an image of \(size) pixels: the size is out of range"
            )
        }
        let count = size.pixelCount * 4
        guard let block = PixelMemory.allocate(byteCount: count) else {
            throw EideticError(.outOfMemory, message: "not enough memory for an image of \(size) pixels")
        }
        do throws(EideticError) {
            try fill(UnsafeMutableRawBufferPointer(start: block.memory, count: count), size.width * 4)
        } catch {
            PixelMemory.deallocate(block)
            throw error
        }
        self.size = size
        self.bytesPerRow = size.width * 4
        self.alpha = alpha
        baseAddress = block.memory
        expandGrey = nil
        release = { PixelMemory.deallocate(block) }
    }

    /// Creates a buffer of opaque grey pixels with one byte each, without padding, in memory that no longer changes.
    package init(grey block: PixelMemory.Block, size: PixelSize, expand: @escaping GreyExpansion) {
        self.size = size
        bytesPerRow = size.width * 4
        alpha = .opaque
        baseAddress = block.memory
        expandGrey = expand
        release = { PixelMemory.deallocate(block) }
    }

    /// Creates a buffer from a function of the pixels' indices, row by row: red, green, blue and alpha.
    ///
    /// - Throws: The errors of ``init(size:alpha:fill:)``; the error that `pixel` throws.
    public convenience init(
        size: PixelSize,
        alpha: Alpha,
        pixel: (_ index: Int) throws(EideticError) -> SIMD4<UInt8>
    ) throws(EideticError) {
        try self.init(size: size, alpha: alpha) { target, _ throws(EideticError) in
            for index in 0..<size.pixelCount {
                target.storeBytes(of: try pixel(index), toByteOffset: 4 * index, as: SIMD4<UInt8>.self)
            }
        }
    }

    /// Returns a buffer of transparent pixels; it occupies address space, but no memory.
    static func transparent(size: PixelSize) -> PixelBuffer {
        let count = size.pixelCount * 4
        let memory = mmap(nil, count, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
        guard let memory, memory != MAP_FAILED else {
            fatalError("not enough address space for an image of \(size) pixels")
        }
        // Safe to send: it is unmapped once, when the last reference goes away.
        nonisolated(unsafe) let owned = memory
        return PixelBuffer(adopting: memory, size: size, bytesPerRow: size.width * 4, alpha: .premultiplied) {
            munmap(owned, count)
        }
    }

    /// Creates a buffer from memory that is already filled and no longer changes; `release` frees it.
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
        expandGrey = nil
        self.release = release
    }

    deinit { release() }

    /// A Boolean value indicating whether memory has one byte for each pixel, which is opaque and grey.
    package var isCompact: Bool { expandGrey != nil }

    /// The memory that the pixels occupy.
    package var byteCount: ByteCount { ByteCount(isCompact ? size.pixelCount : bytesPerRow * size.height) }

    /// Calls `body` with all rows; the pointer is valid only during the call.
    ///
    /// If memory has one byte a pixel, each call makes the four anew, and releases them when `body` returns; the
    /// process ends with a message if there is no memory for them.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let pixels = expandedOrEnded
        defer { withExtendedLifetime(pixels) {} }
        return try body(pixels.unsafeBytes)
    }

    /// Returns the buffer if memory has four bytes a pixel; otherwise a new one that has, and that holds this one.
    ///
    /// - Throws: `outOfMemory`.
    package func expanded() throws(EideticError) -> PixelBuffer {
        guard let expandGrey else { return self }
        let count = 4 * size.pixelCount
        guard let block = PixelMemory.allocate(byteCount: count, mayBeLent: false) else {
            throw EideticError(.outOfMemory, message: "not enough memory for an image of \(size) pixels")
        }
        expandGrey(
            UnsafeRawBufferPointer(start: baseAddress, count: size.pixelCount),
            UnsafeMutableRawBufferPointer(start: block.memory, count: count)
        )
        return PixelBuffer(adopting: block.memory, size: size, bytesPerRow: bytesPerRow, alpha: alpha) { [self] in
            PixelMemory.deallocate(block)
            withExtendedLifetime(self) {}
        }
    }

    /// The buffer of ``expanded()``; the process ends with a message if there is no memory for it.
    package var expandedOrEnded: PixelBuffer {
        do throws(EideticError) { return try expanded() } catch { fatalError("\(error)") }
    }

    /// All rows, valid as long as the buffer exists; for toolkits that display them without a copy.
    ///
    /// - Precondition: Memory has four bytes a pixel, as that of ``expanded()``.
    package var unsafeBytes: UnsafeRawBufferPointer {
        precondition(!isCompact)
        return UnsafeRawBufferPointer(start: baseAddress, count: bytesPerRow * size.height)
    }

    /// Returns the pixel at a position as stored: red, green, blue, alpha.
    ///
    /// - Precondition: The position is inside the buffer.
    public subscript(x: Int, y: Int) -> SIMD4<UInt8> {
        precondition((0..<size.width).contains(x) && (0..<size.height).contains(y))
        guard isCompact else {
            return baseAddress.loadUnaligned(fromByteOffset: y * bytesPerRow + 4 * x, as: SIMD4<UInt8>.self)
        }
        let grey = baseAddress.load(fromByteOffset: y * size.width + x, as: UInt8.self)
        return SIMD4(grey, grey, grey, 255)
    }
}
