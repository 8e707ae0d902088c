public import EideticCore
package import EideticFetch

/// One of several files of the same image, which differ in size and quality.
public struct ImageCandidate: Sendable, Hashable {
    /// The request for the file.
    package let request: FetchRequest

    /// The size in upright pixels.
    package let size: PixelSize

    /// The approximate number of encoded bytes, from which the download time is estimated.
    package let byteCount: ByteCount

    /// Creates a candidate.
    ///
    /// - Parameters:
    ///   - request: The request for the file.
    ///   - size: The size in upright pixels.
    ///   - byteCount: The number of encoded bytes; by default a quarter of a byte a pixel, as for photographs.
    package init(_ request: FetchRequest, size: PixelSize, byteCount: ByteCount? = nil) {
        self.request = request
        self.size = size
        self.byteCount = byteCount ?? ByteCount(size.pixelCount / 4)
    }

    /// Creates a candidate for a URL given as text.
    ///
    /// - Throws: `invalidURL` if images cannot be loaded from it.
    public init(_ url: String, size: PixelSize, byteCount: ByteCount? = nil) throws(EideticError) {
        self.init(try FetchRequest(url: url), size: size, byteCount: byteCount)
    }
}

extension ImageCandidate {
    /// Returns whether the file has all pixels that a rendering needs.
    func covers(_ rendering: ImageRequest.Rendering) -> Bool {
        guard let target = rendering.size else { return false }
        let (isWide, isHigh) = (size.width >= target.width, size.height >= target.height)
        return rendering.contentMode == .fit ? isWide || isHigh : isWide && isHigh
    }
}
