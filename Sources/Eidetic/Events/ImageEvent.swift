public import EideticCore
public import EideticFetch

/// What happens while a picture is loaded.
public enum ImageTaskEvent: Sendable {
    /// So many bytes have come.
    case progress(FetchProgress)

    /// What is there of the picture while it comes (`progressive`).
    case preview(Image)

    /// The cached picture, while the server is asked whether it has changed (`refreshCached`).
    case cached(ImageResponse)

    /// The picture is there. The last event.
    case finished(ImageResponse)

    /// The picture could not be loaded. The last event.
    case failed(EideticError)

    /// Whether no event comes after this one.
    public var isTerminal: Bool {
        switch self {
        case .progress, .preview, .cached: false
        case .finished, .failed: true
        }
    }
}
