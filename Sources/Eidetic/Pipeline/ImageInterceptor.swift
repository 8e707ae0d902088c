public import EideticCore

/// Stands around each load: may change the request, answer itself, try again, measure, or refuse.
public protocol ImageInterceptor: Sendable {
    /// Answers `request`, usually with what `next` gives for it.
    ///
    /// Called on the cooperative pool; it must not block.
    func intercept(
        _ request: ImageRequest,
        next: @Sendable (ImageRequest) async throws(EideticError) -> ImageResponse
    ) async throws(EideticError) -> ImageResponse
}
