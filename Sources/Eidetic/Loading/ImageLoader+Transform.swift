import EideticCore

extension ImageLoader {
    /// Applies the request's transform to a decoded image.
    ///
    /// - Parameters:
    ///   - image: A decoded image.
    ///   - request: The request.
    ///   - step: The step that decoded it.
    ///   - context: Cancels the transform between two frames.
    /// - Returns: The transformed image, or `image` if the transform does not apply to it.
    /// - Throws: The errors of the transform, and `cancelled`.
    static func transform(
        _ image: Image,
        for request: ImageRequest,
        after step: LoadTrace.Step,
        context: JobContext?
    ) throws(EideticError) -> Rendition {
        try context?.checkCancellation()
        let timer = StepTimer()
        guard let transform = request.transform(for: image) else { return Rendition(image: image, steps: [step]) }
        var transformed = try transform.apply(to: image, context: context)
        (transformed.encodedSize, transformed.encodedChecksum) = (image.encodedSize, image.encodedChecksum)
        return Rendition(image: transformed, steps: [step, timer.step(.transform, detail: transform.key)])
    }

    /// Applies the request's transform to a preview.
    static func transform(preview: Image, for request: ImageRequest) throws(EideticError) -> Image {
        guard let transform = request.transform(for: preview) else { return preview }
        return try transform.apply(to: preview)
    }
}

extension ImageRequest {
    /// Returns the transform if it applies to `image`; animations and vector images need an option for it.
    func transform(for image: Image) -> (any ImageTransform)? {
        guard !image.isAnimated || options.contains(.transformAnimatedImage),
            image.format != .svg || options.contains(.transformVectorImage)
        else { return nil }
        return rendering.transform
    }
}
