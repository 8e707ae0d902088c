import EideticCore

/// For how long a URL that failed for good is not asked again, by the kind of failure (L07).
///
/// Zero: asked again at once.
public struct FailurePolicy: Sendable, Hashable {
    /// Status 404 and 410; 1 hour by default.
    public var missing: Duration = .seconds(3_600)
    /// Status 401, 403 and 407; 5 minutes by default.
    public var forbidden: Duration = .seconds(300)
    /// Every other status below 500; 10 minutes by default.
    public var otherStatus: Duration = .seconds(600)
    /// No picture, or one that is broken or of an unknown format; 10 minutes by default.
    public var notAnImage: Duration = .seconds(600)
    /// More bytes or pixels than allowed, by whichever pipeline of the downloader found it; 1 hour by default.
    public var tooLarge: Duration = .seconds(3_600)
    /// A certificate that is not acceptable; 5 minutes by default.
    public var tls: Duration = .seconds(300)
    /// Redirects that lead nowhere, and answers that break the protocol; 10 minutes by default.
    public var protocolError: Duration = .seconds(600)
    /// How many failures are remembered; the oldest are forgotten first.
    ///
    /// 4,096 by default.
    public var capacity = 4_096

    /// Creates a policy with the defaults above.
    public init() {}

    /// How long `error` is remembered; `nil` for a failure that may pass.
    func lifetime(of error: EideticError) -> Duration? {
        guard !error.isTransient else { return nil }
        let lifetime: Duration? =
            switch error.code {
            case .httpStatus: lifetime(ofStatus: error.httpStatus ?? 0)
            case .notAnImage, .corrupt, .truncated, .unsupportedFormat: notAnImage
            case .limitExceeded: tooLarge
            case .tlsFailure: tls
            case .badRedirect, .badResponse: protocolError
            default: nil
            }
        return lifetime.flatMap { $0 > .zero ? $0 : nil }
    }

    private func lifetime(ofStatus status: Int) -> Duration {
        switch status {
        case 404, 410: missing
        case 401, 403, 407: forbidden
        default: otherStatus
        }
    }
}
