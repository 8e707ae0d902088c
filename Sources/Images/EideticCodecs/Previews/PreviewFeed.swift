import EideticCore

/// An incremental decoder for an image that is being downloaded; it decodes each byte once.
///
/// After an error, a feed is unusable.
protocol PreviewFeed: AnyObject {
    /// Decodes the new part of `bytes`, which start at the first byte of the image, and returns the visible image.
    ///
    /// Calls `task.checkpoint()` every few milliseconds.
    ///
    /// - Returns: The pixels so far; `nil` if no row is complete yet.
    func decodePreview(of bytes: UnsafeRawBufferPointer, for task: DecodeTask) throws(EideticError) -> DecodedPixels?

    /// The number of bytes that the decoder has consumed.
    var consumedByteCount: Int { get }
}
