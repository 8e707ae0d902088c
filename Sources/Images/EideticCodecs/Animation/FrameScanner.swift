package import EideticCore

/// Finds the frames of an animation that is being downloaded, so that they are decoded as soon as they are there.
///
/// Each byte is parsed once, and none is copied. Unchecked, because its user makes one call at a time; it reads bytes
/// during a call only.
package final class FrameScanner: @unchecked Sendable {
    private var index: any FrameIndex
    private var hasFailed = false
    private var hasReportedImage = false

    /// Creates a scanner.
    ///
    /// - Parameter format: The format; the result is `nil` if its frames can only be found by its decoder.
    package init?(_ format: ImageFormat) {
        switch format {
        case .gif: index = GIFStructure()
        case .png: index = PNGStructure()
        case .webp: index = WebPStructure()
        #if AVIF
        case .avif: index = AVIFFrameIndex()
        #endif
        default: return nil
        }
    }

    /// Parses the bytes so far: those of the call before, and the ones that have arrived since.
    package func update(_ bytes: UnsafeRawBufferPointer) {
        do throws(EideticError) { try index.update(bytes, isFileComplete: false) } catch { hasFailed = true }
    }

    /// A Boolean value indicating whether the bytes are known to be no animation.
    package var isStill: Bool { hasFailed || index.isStill }

    /// A Boolean value indicating whether the first frame of an animation is there.
    package var hasFrame: Bool { !hasFailed && index.isAnimated && index.wholeFrameCount > 0 }

    /// Returns `true` once, when the first frame of an image is there that may turn out to be an animation.
    package func findsImage() -> Bool {
        guard !hasReportedImage, !index.isComplete, index.wholeFrameCount > 0 else { return false }
        hasReportedImage = true
        return true
    }
}
