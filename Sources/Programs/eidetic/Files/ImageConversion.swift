import Eidetic
import EideticCodecs
import EideticCLI
import EideticCore

/// The conversion of `eidetic convert`: from the bytes of a file to those of another.
struct ImageConversion: Sendable {
    private let rendering: ImageRequest.Rendering
    private let options: EncodeOptions
    private let metadataPolicy: MetadataPolicy
    /// A Boolean value indicating whether the command line says what happens to metadata.
    private let stripsByWord: Bool
    /// A Boolean value indicating whether the command line asks for no change of the pixels, nor for a form of the
    /// file.
    private let isUnchanged: Bool
    private let frameNumber: Int?
    private let loopCount: Int?
    private let decodePolicy: DecodePolicy
    private let acceptsPartial: Bool

    init(_ arguments: Arguments) {
        rendering = RenderingOptions.rendering(from: arguments)
        options = EncodingOptions.options(from: arguments)
        // A file that is replaced has them nowhere else.
        let standard = arguments.contains(ConvertCommand.inPlace) ? MetadataPolicy.keep : .strip
        metadataPolicy = arguments[EncodingOptions.metadata] ?? standard
        stripsByWord = arguments[EncodingOptions.metadata] != nil
        let form: [Option] = [
            CommonOptions.quality.definition, EncodingOptions.maximumByteCount.definition,
            EncodingOptions.maximumSize.definition, EncodingOptions.colors.definition,
            EncodingOptions.background.definition, EncodingOptions.progressive,
        ]
        isUnchanged = rendering.size == nil && rendering.transform == nil && !form.contains(where: arguments.contains)
        frameNumber = arguments[FrameOptions.frame]
        decodePolicy = SandboxOption.policy(from: arguments)
        loopCount = arguments[FrameOptions.loop]
        acceptsPartial = arguments.contains(RenderingOptions.partial)
    }

    /// An image and the metadata of its file.
    struct Source {
        var image: Image
        var metadata: ImageMetadata?
        /// The file of the image without metadata; `nil` if its pixels were changed.
        var original: [UInt8]?
        /// The parts of the file that the converted one will not have.
        var losses: [String] = []
    }

    /// Decodes and changes an image; all of its frames, or the chosen one.
    ///
    /// The target is the format of the converted file; `nil` for that of the image.
    func source(from bytes: [UInt8], target: ImageFormat?) throws(EideticError) -> Source {
        var options = DecodeOptions()
        var metadata = metadataPolicy == .strip ? nil : metadataPolicy.applied(to: try decodePolicy.metadata(of: bytes))
        // Texts must not take the bytes of pixels.
        if self.options.maximumByteCount != nil { metadata?.parts = nil }
        options.target = rendering.target ?? rendering.transform?.neededTarget
        options.premultipliesAlpha = rendering.transform != nil
        // The still image of a PNG need not be a frame of its animation.
        let isPNG = ImageFormat(of: bytes) == .png
        options.frames = frameNumber == 1 && !isPNG ? .first : .all
        options.acceptsPartial = acceptsPartial
        // Pixels keep their values with a profile; one of other channels than the file will have is converted.
        options.convertsToSRGB = metadata?.hasProfileOfRGB != true || target == .gif
        if options.convertsToSRGB { metadata?.iccProfile = nil }
        let image = try decode(bytes, options: options).selecting(frame: frameNumber)
        var source = Source(image: try rendering.transform?.apply(to: image) ?? image, metadata: metadata)
        let fitting = metadata?.fitting(target ?? image.format, size: source.image.size)
        source.metadata = fitting?.metadata
        if keepsMetadata {
            source.losses = MetadataLosses(of: bytes, format: image.format, metadata: metadata, target: target).names
        }
        source.losses += fitting?.tooLarge ?? []
        if image.format == .avif || image.format == .heic,
            try decodePolicy.header(of: bytes)?.ignoresAlpha(of: bytes) == true
        {
            source.losses.append("alpha")
        }
        if isUnchanged, !image.isPartial, frameNumber ?? 1 == 1 {
            source.original = original(of: bytes, format: image.format, metadata: metadata, losses: source.losses)
        }
        return source
    }

    /// Decodes an image; without its other frames if these cannot be decoded, and the first one is asked for.
    private func decode(_ bytes: [UInt8], options: DecodeOptions) throws(EideticError) -> Image {
        do throws(EideticError) {
            return try decodePolicy.decode(bytes, options: options).image
        } catch {
            guard error.code != .cancelled, frameNumber == 1, options.frames == .all else { throw error }
            var options = options
            options.frames = .first
            return try decodePolicy.decode(bytes, options: options).image
        }
    }

    /// Returns the file with these metadata alone, where its pixels need not be encoded again.
    private func original(
        of bytes: [UInt8],
        format: ImageFormat,
        metadata: ImageMetadata?,
        losses: [String]
    ) -> [UInt8]? {
        switch format {
        case .jpeg:
            guard stripsByWord, metadataPolicy != .keep else { return nil }
            return OriginalFile.strippedJPEG(bytes, metadata: metadata)
        case .png where metadataPolicy == .keep:
            return losses.isEmpty && OriginalFile.strippedPNG(bytes) != nil ? bytes : nil
        case .png: return metadataPolicy == .strip || metadataPolicy == .color ? OriginalFile.strippedPNG(bytes) : nil
        default: return nil
        }
    }

    private var keepsMetadata: Bool { metadataPolicy == .keep || metadataPolicy == .withoutPosition }

    /// Encodes an image.
    ///
    /// - Throws: `unsupportedFormat` for an animation in a format that has none, and the errors of encoding.
    func encode(_ source: Source, as format: ImageFormat) throws(EideticError) -> [UInt8] {
        var options = options
        options.metadata = source.metadata
        let image = loopCount.map { source.image.looping($0) } ?? source.image
        guard !image.isAnimated || ImageEncoder.animatedFormats.contains(format) else {
            let known = ImageEncoder.animatedFormats.map(\.displayName).joined(separator: ", ")
            throw EideticError(
                .unsupportedFormat,
                message: "an animation cannot be written as \(format.displayName); use \(known), or --frame 1"
            )
        }
        guard options.maximumColorCount == nil || format == .png || format == .gif else {
            throw EideticError(
                .invalidArgument,
                message: "--colors reduces the colours of PNG and GIF; \(format.displayName) has no palette"
            )
        }
        let original = source.image.format == format ? source.original : nil
        // A JPEG loses by being encoded again.
        if let original, format == .jpeg { return original }
        let bytes = try ImageEncoder.encode(image, as: format, options: options)
        return original.map { $0.count < bytes.count ? $0 : bytes } ?? bytes
    }

    /// Returns the frames of an image, each as an image of its own.
    static func frames(of source: Source) -> [Source] {
        source.image.frames.map { frame in
            Source(image: source.image.replacingFrames([.init(pixels: frame.pixels)]), metadata: source.metadata)
        }
    }

    /// Returns one animation of all images, with the metadata of the first one.
    ///
    /// - Parameters:
    ///   - sources: The images; of animations, all frames with their own durations.
    ///   - duration: The duration of a still image.
    /// - Returns: The animation.
    /// - Throws: `invalidArgument` if the sizes differ.
    static func animation(of sources: [Source], duration: Duration) throws(EideticError) -> Source {
        let size = sources[0].image.size
        for (index, source) in sources.enumerated() where source.image.size != size {
            let reason = "image \(index + 1) has \(source.image.size) pixels, the first one \(size)"
            throw EideticError(.invalidArgument, message: "\(reason); make them equal with --size WxH --fill")
        }
        let frames = sources.flatMap { source in
            source.image.frames.map {
                Image.Frame(pixels: $0.pixels, duration: $0.duration > .zero ? $0.duration : duration)
            }
        }
        let image = sources[0].image.replacingFrames(frames).looping(0)
        return Source(image: image, metadata: sources[0].metadata)
    }
}

extension ImageMetadata {
    /// A Boolean value indicating whether the profile describes red, green and blue.
    fileprivate var hasProfileOfRGB: Bool { iccProfile?.dropFirst(16).prefix(4).elementsEqual("RGB ".utf8) == true }
}

extension Image {
    /// Returns the frame with a number from 1; the image itself for `nil`.
    ///
    /// - Throws: `invalidArgument` if there are fewer frames.
    fileprivate func selecting(frame number: Int?) throws(EideticError) -> Image {
        guard let number else { return self }
        guard number <= frames.count else {
            let count = frames.count == 1 ? "one frame" : "\(frames.count) frames"
            throw EideticError(.invalidArgument, message: "there is no frame \(number); the image has \(count)")
        }
        return replacingFrames([Frame(pixels: frames[number - 1].pixels)])
    }

    /// Returns the image with another number of repetitions; 0 is for ever.
    fileprivate func looping(_ count: Int) -> Image {
        Image(
            frames: frames,
            loopCount: count == 0 ? nil : count,
            format: format,
            sourceSize: sourceSize,
            scale: scale,
            isPartial: isPartial
        )
    }
}
