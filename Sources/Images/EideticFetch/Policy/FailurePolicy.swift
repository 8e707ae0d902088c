import EideticCore

/// The lifetime of each kind of permanent failure in the ``FailureList``.
///
/// A request with a listed failure is not sent. A lifetime of zero keeps failures of that kind out of the list.
package struct FailurePolicy: Sendable, Hashable {
    /// The lifetime of status 404 and 410; 1 hour by default.
    package var missing: Duration = .seconds(3_600)
    /// The lifetime of status 401, 403 and 407; 5 minutes by default.
    package var forbidden: Duration = .seconds(300)
    /// The lifetime of every other status below 500; 10 minutes by default.
    package var otherStatus: Duration = .seconds(600)
    /// The lifetime of a body that is no image, a damaged image or an image of an unknown format; 10 minutes by
    /// default.
    package var notAnImage: Duration = .seconds(600)
    /// The lifetime of a body with more bytes or pixels than allowed; 1 hour by default.
    ///
    /// The limit may be that of any pipeline that uses the downloader.
    package var tooLarge: Duration = .seconds(3_600)
    /// The lifetime of a certificate that is not trusted; 5 minutes by default.
    package var tls: Duration = .seconds(300)
    /// The lifetime of an invalid redirect or an invalid response; 10 minutes by default.
    package var protocolError: Duration = .seconds(600)
    /// The largest number of listed failures; 4,096 by default.
    ///
    /// The oldest are removed first.
    package var capacity = 4_096

    /// Creates a policy with default values.
    package init() {}

    /// Returns the lifetime of an error that is not transient, or `nil` for one that is not listed.
    func lifetime(of error: EideticError) -> Duration? {
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
