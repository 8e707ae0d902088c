public import EideticCodecs
public import EideticCore

extension ImageRequest {
    /// The size and changes of an image; all of them are part of its key.
    public struct Rendering: Sendable {
        /// The size in upright pixels at which the image is displayed; `nil`, the default, for its full size.
        ///
        /// The image is never enlarged.
        public var size: PixelSize?

        /// The way the image is fitted to ``size``; `fit` by default.
        public var contentMode: ContentMode

        /// A Boolean value indicating whether colours are converted to sRGB; true by default.
        public var convertsToSRGB: Bool

        /// The number of pixels per point, recorded in the image.
        ///
        /// `nil`, the default, takes it from the file name (`@2x`), or else 1.
        public var scale: Double?

        /// The change applied to the decoded image; none by default.
        public var transform: (any ImageTransform)?

        /// Creates a rendering; by default the image is unchanged.
        public init(
            size: PixelSize? = nil,
            contentMode: ContentMode = .fit,
            convertsToSRGB: Bool = true,
            transform: (any ImageTransform)? = nil,
            scale: Double? = nil
        ) {
            self.size = size
            self.contentMode = contentMode
            self.convertsToSRGB = convertsToSRGB
            self.transform = transform
            self.scale = scale
        }

        var atFullSize: Rendering { Rendering(convertsToSRGB: convertsToSRGB, transform: transform, scale: scale) }

        func cacheKey(for resourceKey: String, options: ImageOptions) -> CacheKey {
            CacheKey(forProcess: cacheKeyText(for: resourceKey, options: options))
        }

        /// Returns the text that identifies the image; that of the resource if nothing is changed.
        func cacheKeyText(for resourceKey: String, options: ImageOptions) -> String {
            let flags = relevantOptions(in: options).rawValue
            let isChanged = size != nil || flags != 0 || !convertsToSRGB || transform != nil || scale != nil
            guard isChanged else { return resourceKey }
            let target = target?.key ?? "full"
            let scale = scale.map { " @\($0)" } ?? ""
            return "\(resourceKey)\n\(target) \(flags) \(convertsToSRGB)\(scale) \(transform?.key ?? "")"
        }

        /// The size, and the way in which the image is fitted to it; `nil` for the full size.
        package var target: ImageTarget? { size.map { ImageTarget(size: $0, contentMode: contentMode) } }

        /// A Boolean value indicating whether the size crops or distorts the image, so that no other image can be made
        /// from it.
        var isCropped: Bool { size?.isLimited == true && contentMode.changesProportions }

        /// Returns those of the options that change a pixel of this rendering.
        private func relevantOptions(in options: ImageOptions) -> ImageOptions {
            var flags = options.intersection(.affectingIdentity)
            if flags.contains(.firstFrameOnly) { flags.subtract([.preloadAllFrames, .transformAnimatedImage]) }
            if transform == nil { flags.subtract([.transformAnimatedImage, .transformVectorImage]) }
            return flags
        }

        func decodeOptions(for options: ImageOptions, byteLimit: ByteCount) -> DecodeOptions {
            var decode = DecodeOptions()
            decode.target = target
            decode.convertsToSRGB = convertsToSRGB
            decode.acceptsPartial = options.contains(.allowsPartial)
            decode.frames = options.contains(.preloadAllFrames) && !options.contains(.firstFrameOnly) ? .all : .first
            decode.byteLimit = options.contains(.scaleDownLargeImages) ? byteLimit : nil
            return decode
        }
    }
}

extension ImageRequest {
    /// The request for the image that the last transform is applied to, and that transform; `nil` if there is none, or
    /// the image is decoded for it alone.
    var beforeLastTransform: (request: ImageRequest, last: any ImageTransform)? {
        guard let transform = rendering.transform else { return nil }
        let transforms = (transform as? TransformChain)?.transforms ?? [transform]
        guard let last = transforms.last, transforms.count > 1 || size != nil || last.neededTarget == nil else {
            return nil
        }
        var request = self
        request.rendering.transform = transforms.count > 1 ? TransformChain(transforms.dropLast()) : nil
        return (request, last)
    }
}
