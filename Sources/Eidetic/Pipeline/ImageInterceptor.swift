public import EideticCore

/// Stands around each load: may change the request, answer itself, try again, measure, or refuse.
///
/// Around each prefetch as well, also one to disk, whose picture is not decoded. Since it may suspend, a pipeline with
/// interceptors answers no load before the call returns, also where memory has the picture; ``ImagePipeline/cachedImage(for:)``
/// and ``ImagePipeline/cachedPreview(for:)`` ask memory alone, and go past it.
public protocol ImageInterceptor: Sendable {
    /// Answers `request`, usually with what `next` gives for it, else with ``ImageResponse/init(_:source:originalBytes:)``.
    ///
    /// Where it changes the priority, the load is as urgent from there on; prefetches stay at the low one.
    /// Called on the cooperative pool; it must not block.
    func intercept(
        _ request: ImageRequest,
        next: @Sendable (ImageRequest) async throws(EideticError) -> ImageResponse
    ) async throws(EideticError) -> ImageResponse
}
