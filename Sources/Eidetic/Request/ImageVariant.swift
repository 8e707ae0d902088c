public import EideticCore
public import EideticFetch

/// One of several files of the same picture, which differ in size and quality.
public struct ImageCandidate: Sendable, Hashable {
    /// Where it is.
    public let request: FetchRequest

    /// How many pixels it has, upright.
    public let size: PixelSize

    /// About how many bytes it has, by which the time that it takes is foreseen.
    public let byteCount: ByteCount

    /// Creates a variant; a quarter of a byte a pixel, as photographs have, where the number of bytes is not known.
    public init(_ request: FetchRequest, size: PixelSize, byteCount: ByteCount? = nil) {
        self.request = request
        self.size = size
        self.byteCount = byteCount ?? ByteCount(size.pixelCount / 4)
    }

    /// Creates a variant for a URL given as text; throws `invalidURL` where it is none that can be loaded.
    public init(_ url: String, size: PixelSize, byteCount: ByteCount? = nil) throws(EideticError) {
        self.init(try FetchRequest(url: url), size: size, byteCount: byteCount)
    }
}

extension ImageCandidate {
    /// Whether it has all pixels that are wanted.
    func covers(_ rendering: ImageRequest.Rendering) -> Bool {
        guard let wanted = rendering.size else { return false }
        let (isWide, isHigh) = (size.width >= wanted.width, size.height >= wanted.height)
        return rendering.contentMode == .fit ? isWide || isHigh : isWide && isHigh
    }
}
