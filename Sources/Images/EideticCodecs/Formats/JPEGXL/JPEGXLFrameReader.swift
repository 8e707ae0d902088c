#if JPEGXL
import EideticCore

/// The frames of a JPEG XL animation.
///
/// One decoder reads the headers of frames as they arrive, another one the pixels. libjxl composes the frames; to go
/// back, it begins again and leaves out the frames that later ones do not need.
final class JPEGXLFrameReader: FrameReader {
    private var headers: JPEGXLFile?
    private var decoder: JPEGXLFile?
    /// The frame that the decoder reads next.
    private var nextIndex = 0
    /// A Boolean value indicating whether the decoder has read the header of that frame.
    private var isFrameOpen = false
    private var bytes = UnsafeRawBufferPointer(start: nil, count: 0)
    private var announcedDurations: [Duration] = []
    private var properties: (size: PixelSize, hasAlpha: Bool, isAnimated: Bool, loopCount: Int?)?
    private(set) var durations: [Duration] = []
    private(set) var isComplete = false
    private(set) var colourSpace: ColourSpace?

    var isAnimated: Bool { properties?.isAnimated ?? false }

    var loopCount: Int? {
        guard let properties else { return 1 }
        return properties.loopCount
    }

    var header: ImageHeader? {
        guard let properties else { return nil }
        return ImageHeader(
            format: .jpegxl,
            size: properties.size,
            hasAlpha: properties.hasAlpha,
            frameCount: max(1, announcedDurations.count),
            loopCount: properties.loopCount
        )
    }

    /// The planes of the frames that others can refer to: four, in floating point.
    var retainedByteCount: Int { properties.map { 4 * 16 * $0.size.pixelCount } ?? 0 }

    var canvasCount: Int { 12 }

    func update(_ bytes: UnsafeRawBufferPointer, isFileComplete: Bool) throws(EideticError) {
        self.bytes = bytes
        isComplete = isFileComplete
        decoder?.extend(bytes, isComplete: isFileComplete)
        try readHeaders()
        // A frame is there when the next one begins.
        durations = isFileComplete ? announcedDurations : announcedDurations.dropLast()
        guard !durations.isEmpty, colourSpace == nil, decoder == nil else { return }
        try openFrame(at: 0)
        colourSpace = decoder?.colourSpace
    }

    private func readHeaders() throws(EideticError) {
        if let headers {
            headers.extend(bytes, isComplete: isComplete)
        } else {
            headers = try JPEGXLFile(bytes, isComplete: isComplete, decodesPixels: false)
        }
        guard let file = headers else { return }
        properties = (file.size, file.alpha != .opaque, file.isAnimated, file.isAnimated ? file.loopCount : 1)
        while let duration = try file.nextDuration() {
            announcedDurations.append(duration)
            try FrameCountLimit.check(announcedDurations.count, format: .jpegxl)
        }
    }

    func frame(at index: Int, for task: DecodeTask) throws(EideticError) -> PixelBuffer {
        try task.checkpoint()
        do throws(EideticError) {
            try openFrame(at: index)
            guard let decoder else { throw missingFrame(index) }
            let pixels = try decoder.decodeFrame(for: task.rejectingPartial).0
            nextIndex = index + 1
            isFrameOpen = false
            return try Resampler.resample(pixels, to: task.targetSize, for: task)
        } catch {
            decoder = nil
            throw error
        }
    }

    /// Lets the decoder read the header of a frame.
    private func openFrame(at index: Int) throws(EideticError) {
        if isFrameOpen ? nextIndex != index : nextIndex > index { decoder = nil }
        if decoder == nil {
            decoder = try JPEGXLFile(bytes, isComplete: isComplete, decodesPixels: true)
            nextIndex = 0
            isFrameOpen = false
        }
        guard !isFrameOpen, let decoder else { return }
        decoder.skipFrames(index - nextIndex)
        guard try decoder.nextDuration() != nil else { throw missingFrame(index) }
        nextIndex = index
        isFrameOpen = true
    }

    private func missingFrame(_ index: Int) -> EideticError {
        EideticError(.truncated, message: "jpegxl: frame \(index + 1) has not arrived")
    }
}
#endif
