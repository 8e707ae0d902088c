public import EideticCore
import EideticFetch

extension ImageTask {
    /// An event of a load.
    public enum Event: Sendable {
        /// Bytes were received.
        case progress(LoadProgress)

        /// A partial image was decoded from the bytes received so far (`progressive`).
        case preview(Image)

        /// A cache has the image, which is being revalidated (`refreshCached`).
        case cached(ImageResponse)

        /// The image was loaded. A terminal event.
        case finished(ImageResponse)

        /// The image could not be loaded. A terminal event.
        case failed(EideticError)

        /// A Boolean value indicating whether this is the last event.
        package var isTerminal: Bool {
            switch self {
            case .progress, .preview, .cached: false
            case .finished, .failed: true
            }
        }

        /// The outcome of the load; `nil` unless this is the terminal event.
        var result: Result<ImageResponse, EideticError>? {
            switch self {
            case .progress, .preview, .cached: nil
            case .finished(let response): .success(response)
            case .failed(let error): .failure(error)
            }
        }
    }
}

extension ImageTask.Event {
    /// Returns this event with a decoded image, or the error that prevents the decode.
    ///
    /// A cached image that cannot be decoded becomes `nil`, because the terminal event is still to come.
    func decoded() async -> ImageTask.Event? {
        switch self {
        case .cached(let response):
            guard let decoded = try? await response.decoded() else { return nil }
            return .cached(decoded)
        case .finished(let response):
            do throws(EideticError) { return .finished(try await response.decoded()) } catch { return .failed(error) }
        case .progress, .preview, .failed: return self
        }
    }
}

extension ImageResponse {
    fileprivate func decoded() async throws(EideticError) -> ImageResponse {
        guard !image.isDecoded else { return self }
        var response = self
        response.image = try await image.decoded()
        return response
    }
}
