import Eidetic

/// A transform that changes nothing and counts how often it is called.
struct CountingTransform: ImageTransform {
    let key = "counting"
    let count: Counter

    func apply(to pixels: PixelBuffer) throws(EideticError) -> PixelBuffer {
        count.increment()
        return pixels
    }
}

/// An interceptor that is one function.
struct FunctionInterceptor: ImageInterceptor {
    typealias Next = @Sendable (ImageRequest) async throws(EideticError) -> ImageResponse

    let function: @Sendable (ImageRequest, Next) async throws(EideticError) -> ImageResponse

    init(_ function: @escaping @Sendable (ImageRequest, Next) async throws(EideticError) -> ImageResponse) {
        self.function = function
    }

    func intercept(_ request: ImageRequest, next: Next) async throws(EideticError) -> ImageResponse {
        try await function(request, next)
    }
}
