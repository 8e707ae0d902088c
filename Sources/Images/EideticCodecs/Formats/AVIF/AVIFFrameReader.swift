#if AVIF
import EideticCore

/// The frames of an AVIF sequence.
///
/// libavif keeps the frames that later ones refer to, and itself returns to the last one that stands alone.
final class AVIFFrameReader: FrameReader {
    private let limits: DecodeLimits
    private var file: AVIFFile?
    private(set) var header: ImageHeader?
    private(set) var isComplete = false
    private(set) var durations: [Duration] = []

    init(limits: DecodeLimits) { self.limits = limits }

    var isAnimated: Bool { header.map { $0.frameCount > 1 } ?? false }
    var loopCount: Int? { header.flatMap(\.loopCount) }

    var colourSpace: ColourSpace? {
        switch file {
        case .some(let file): file.colourSpace
        case .none: nil
        }
    }

    /// The planes of the frames that others can refer to: eight in AV1.
    var retainedByteCount: Int { header.map { 8 * 2 * $0.size.pixelCount } ?? 0 }

    func update(_ bytes: UnsafeRawBufferPointer, isFileComplete: Bool) throws(EideticError) {
        // The file so far remains, should this fail.
        guard let opened = try AVIFCodec.openSequence(bytes, isComplete: isFileComplete, limits: limits) else {
            file = nil
            return
        }
        let header = opened.makeHeader(from: bytes)
        let count = min(header.frameCount, opened.availableFrameCount(from: durations.count))
        durations = Array(header.durations.prefix(count))
        isComplete = count == header.frameCount || isFileComplete
        self.header = header
        file = consume opened
    }

    func frame(at index: Int, for task: DecodeTask) throws(EideticError) -> PixelBuffer {
        switch file {
        case .some(let file): return try file.nextFrame(at: index, for: task)
        case .none: throw EideticError(.truncated, message: "avif: frame \(index + 1) has not arrived")
        }
    }
}
#endif
