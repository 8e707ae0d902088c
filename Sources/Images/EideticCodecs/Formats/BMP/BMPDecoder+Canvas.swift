import CBitmap
import EideticCore

extension BMPDecoder {
    /// The pixels of an image that is being decoded.
    struct Canvas {
        let base: UnsafeMutablePointer<UInt8>
        let bytesPerRow: Int
        let size: PixelSize
        let isTopDown: Bool

        /// Returns the destination of the stored row `index`.
        func row(at index: Int) -> UnsafeMutablePointer<UInt8> {
            base + (isTopDown ? index : size.height - 1 - index) * bytesPerRow
        }

        /// A Boolean value indicating whether the alpha of all pixels is 0.
        var isTransparent: Bool {
            (0..<size.height).allSatisfy { eidetic_bitmap_is_transparent(row(at: $0), size.width) }
        }

        /// Sets the alpha of all pixels to 255.
        func makeOpaque() { for index in 0..<size.height { eidetic_bitmap_make_opaque(row(at: index), size.width) } }
    }
}
