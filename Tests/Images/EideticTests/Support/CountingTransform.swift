import Eidetic

/// A transform that changes nothing and counts how often it is called.
struct CountingTransform: ImageTransform {
    let key = "counting"
    let count: Counter

    init(count: Counter) { self.count = count }

    func apply(to pixels: PixelBuffer) throws(EideticError) -> PixelBuffer {
        count.increment()
        return pixels
    }
}

/// An interceptor that counts its calls.
struct CountingInterceptor: ImageInterceptor {
    let count: Counter

    func intercept(
        _ request: ImageRequest,
        next: @Sendable (ImageRequest) async throws(EideticError) -> ImageResponse
    ) async throws(EideticError) -> ImageResponse {
        count.increment()
        return try await next(request)
    }
}

/// An interceptor that loads another request if the first one fails.
struct FallbackInterceptor: ImageInterceptor {
    let fallback: ImageRequest

    func intercept(
        _ request: ImageRequest,
        next: @Sendable (ImageRequest) async throws(EideticError) -> ImageResponse
    ) async throws(EideticError) -> ImageResponse {
        do throws(EideticError) { return try await next(request) } catch { return try await next(fallback) }
    }
}

/// An interceptor that responds itself.
struct RespondingInterceptor: ImageInterceptor {
    let response: ImageResponse

    func intercept(
        _ request: ImageRequest,
        next: @Sendable (ImageRequest) async throws(EideticError) -> ImageResponse
    ) async throws(EideticError) -> ImageResponse { response }
}
