import EideticCodecs
import EideticCore

/// A decoder of an animation or of previews, with the memory of its encoded bytes.
final class KeptDecoder {
    /// The properties of the bytes so far.
    enum Properties {
        /// An animation; `nil` if the bytes are none, or its first frame has not arrived.
        case animation(AnimationInfo?)
        /// The next preview.
        case preview(DecodeSession)
    }

    private let options: KeptDecoderOptions
    private let memory: MappedMemory
    private let previews: PreviewDecoder
    private var nextPreview: DecodeSession?
    private var animation: AnimationDecoder?

    /// Creates a decoder of the bytes in the memory of a descriptor.
    init(_ options: KeptDecoderOptions, descriptor: Int32) throws(EideticError) {
        self.options = options
        memory = try MappedMemory(descriptor: descriptor, byteCount: options.capacity, access: .read)
        previews = PreviewDecoder(options: options.options, limits: options.limits, context: JobContext())
    }

    var usage: DecoderUsage {
        let retained = animation.map { max(0, $0.retainedByteCount - memory.byteCount) } ?? 0
        return DecoderUsage(retainedByteCount: retained, decodedByteCount: previews.decodedByteCount)
    }

    /// Parses the bytes up to `byteCount`.
    func extend(to byteCount: Int, isComplete: Bool) throws(EideticError) -> Properties {
        guard (0...memory.byteCount).contains(byteCount) else {
            throw EideticError(.decoderFailed, message: "\(byteCount) encoded bytes exceed the shared memory")
        }
        switch options.kind {
        case .animation: return .animation(try extendAnimation(to: byteCount, isComplete: isComplete))
        case .preview:
            let session = try previews.open(memory.bytes(count: byteCount))
            nextPreview = session
            return .preview(session)
        }
    }

    private func extendAnimation(to byteCount: Int, isComplete: Bool) throws(EideticError) -> AnimationInfo? {
        if let animation { return try animation.extend(to: byteCount, isComplete: isComplete) }
        animation = try AnimationDecoder(
            sharing: memory.bytes(count: memory.byteCount),
            count: byteCount,
            isComplete: isComplete,
            options: options.options,
            maximumCopyBytes: options.maximumCopyBytes,
            limits: options.limits
        )
        return animation?.info
    }

    /// Decodes the frame with an index, or the next preview; returns `nil` if nothing is visible yet.
    func image(at index: Int) throws(EideticError) -> Image? {
        guard let animation else {
            defer { nextPreview = nil }
            guard let nextPreview else { throw EideticError(.decoderFailed, message: "no image was opened") }
            return try previews.preview(of: nextPreview)
        }
        let pixels = try animation.frame(at: index, context: JobContext())
        let info = animation.info
        return Image(
            frames: [Image.Frame(pixels: pixels, duration: info.durations[index])],
            loopCount: info.loopCount,
            format: info.format,
            sourceSize: info.sourceSize
        )
    }
}
