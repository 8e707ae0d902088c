public import EideticCore

/// A function around each load, which may change the request, respond itself, retry, measure, or refuse.
///
/// Prefetches are intercepted, too, including those to disk, whose images are not decoded. Because an interceptor may
/// suspend, a pipeline with interceptors never delivers an image before
/// ``ImagePipeline/load(_:cached:preview:progress:completion:)`` returns, even if memory has it.
/// ``ImagePipeline/cachedImage(for:)`` searches memory only, and is not intercepted.
public protocol ImageInterceptor: Sendable {
    /// Returns the response to a request: usually that of `next`, otherwise one made with
    /// ``ImageResponse/init(_:source:encodedBytes:)``.
    ///
    /// A changed priority applies to the rest of the load; prefetches keep the low priority. The function is called on
    /// the cooperative pool, and must not block.
    ///
    /// - Parameters:
    ///   - request: The request, after processors and outer interceptors.
    ///   - next: The next interceptor, or the load itself.
    /// - Returns: The response.
    /// - Throws: The error of the load, or of the interceptor.
    func intercept(
        _ request: ImageRequest,
        next: @Sendable (ImageRequest) async throws(EideticError) -> ImageResponse
    ) async throws(EideticError) -> ImageResponse
}
