import EideticCore

/// What a codec is asked to decode, and when it has to stop.
struct DecodeTask {
    /// What the codec's own header function found.
    let header: ImageHeader
    /// What the codec's own open function gave.
    var document: AnyObject?
    /// The size to reach, in stored orientation; never larger than the header's, but for SVG.
    ///
    /// A codec may decode to any size from this one up, and picks the cheapest that loses nothing visible.
    let targetSize: PixelSize
    /// Whether all frames are wanted, or the first one alone.
    let decodesAllFrames: Bool
    /// Whether a picture that ends too early is to be given as far as it goes; else it is an error.
    var acceptsPartial: Bool
    /// What must not be exceeded.
    let limits: DecodeLimits
    /// Tells whether the picture is still wanted.
    let context: JobContext
    /// When the time limit is over.
    let deadline: ContinuousClock.Instant

    /// Throws once nobody wants the picture any more, or it took too long.
    ///
    /// Cheap enough for every few rows.
    func checkpoint() throws(EideticError) {
        try context.checkCancellation()
        guard ContinuousClock.now < deadline else {
            throw EideticError(.limitExceeded, message: "decoding took longer than the limit of \(limits.duration)")
        }
    }

    /// The bytes of so many pictures of the stored size, and of the frames that are wanted at the size that is wanted.
    func estimatedMemory(canvasCount: Int) -> Int {
        let frames = decodesAllFrames ? Double(header.frameCount) * Double(targetSize.pixelCount) : 0
        let bytes = 4 * (frames + Double(canvasCount) * Double(header.size.pixelCount))
        return bytes < 0x1p62 ? Int(bytes) : .max
    }

    /// The same task, but every damage is an error.
    var rejectingPartial: DecodeTask {
        var task = self
        task.acceptsPartial = false
        return task
    }
}
