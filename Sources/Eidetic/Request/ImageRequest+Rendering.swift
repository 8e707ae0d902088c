internal import EideticCodecs
public import EideticCore

extension ImageRequest {
    /// How a picture is made of its bytes; all of it is part of the identity.
    public struct Rendering: Sendable {
        /// The size in upright pixels at which the picture is seen; `nil`, the default, for its full size.
        ///
        /// The picture is never enlarged and keeps its proportions.
        public var size: PixelSize?

        /// How the picture is fitted to ``size``; `fit` by default.
        public var contentMode: ContentMode

        /// Whether colours are converted to sRGB; true by default.
        public var convertsToSRGB: Bool

        /// What is done to the decoded picture; nothing by default.
        public var transform: (any ImageTransform)?

        /// Creates a rendering; the default is the picture as it is.
        public init(
            size: PixelSize? = nil,
            contentMode: ContentMode = .fit,
            convertsToSRGB: Bool = true,
            transform: (any ImageTransform)? = nil
        ) {
            self.size = size
            self.contentMode = contentMode
            self.convertsToSRGB = convertsToSRGB
            self.transform = transform
        }

        /// The same at full size.
        var atFullSize: Rendering { Rendering(convertsToSRGB: convertsToSRGB, transform: transform) }

        func cacheKey(for original: String, options: ImageOptions) -> CacheKey {
            CacheKey(cacheKeyText(for: original, options: options))
        }

        /// The text that stands for the picture: the original's own where nothing is done to it.
        func cacheKeyText(for original: String, options: ImageOptions) -> String {
            let flags = relevantOptions(in: options).rawValue
            guard size != nil || flags != 0 || !convertsToSRGB || transform != nil else { return original }
            let wanted = size.map { "\($0) \(contentMode.rawValue)" } ?? "full"
            return "\(original)\n\(wanted) \(flags) \(convertsToSRGB) \(transform?.key ?? "")"
        }

        /// Those of the options that change a pixel here.
        private func relevantOptions(in options: ImageOptions) -> ImageOptions {
            var flags = options.intersection(.affectingIdentity)
            // One frame is the default, and wins.
            if flags.remove(.firstFrameOnly) != nil { flags.remove(.preloadAllFrames) }
            if transform == nil { flags.subtract([.transformAnimatedImage, .transformVectorImage]) }
            return flags
        }

        /// What the decoder is asked for.
        func decodeOptions(for options: ImageOptions, byteLimit: ByteCount) -> DecodeOptions {
            var decode = DecodeOptions()
            decode.size = size
            decode.contentMode = contentMode
            decode.convertsToSRGB = convertsToSRGB
            decode.frames = options.contains(.preloadAllFrames) && !options.contains(.firstFrameOnly) ? .all : .first
            decode.byteLimit = options.contains(.scaleDownLargeImages) ? byteLimit : nil
            return decode
        }
    }

    /// What the decoder is asked for; the scale is the one that the picture's name says.
    func decodeOptions(byteLimit: ByteCount) -> DecodeOptions {
        var decode = rendering.decodeOptions(options, byteLimit: byteLimit)
        decode.scale = ImageScale.scale(fromName: name)
        return decode
    }
}
