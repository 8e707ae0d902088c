extension Image: CustomStringConvertible {
    /// The format and size on one line, as in `gif 400x300 of 800x600, 12 frames`.
    ///
    /// The size of the encoded image, the number of frames, the scale, and the fact that a part is missing appear if
    /// they are not the usual ones. A deferred image is not decoded.
    public var description: String {
        let size = size == sourceSize ? "\(format) \(size)" : "\(format) \(size) of \(sourceSize)"
        let details = [
            isAnimated ? "\(streamed?.frameCount ?? frames.count) frames" : nil, scale == 1 ? nil : "scale \(scale)",
            isPartial ? "partial" : nil,
        ]
        return ([size] + details.compactMap(\.self)).joined(separator: ", ")
    }
}
