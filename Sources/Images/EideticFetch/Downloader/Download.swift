import EideticCore
import EideticHTTP

/// A download in progress, of a body that is returned or streamed.
struct Download: Sendable {
    let key: DownloadKey
    let context: JobContext
    let report: @Sendable (LoadProgress) -> Void
    /// A Boolean value indicating whether the body is passed to one reader as it arrives.
    var isStreamed = false
    /// A function that receives the body as it arrives; `nil` for none.
    var onBody: ExchangeRequest.BodyHandler?
    /// The moment at which it began.
    let partOrigin: PartOrigin

    var request: FetchRequest { key.request }
}

/// The parameters of the next exchange of a download.
struct ExchangePlan: Sendable {
    var redirect: Redirect
    let download: Download
    /// The part of the body that an earlier attempt received; the remainder is requested.
    var partialBody: PartialBody?
}

/// The last response of an attempt, complete or with a body that is still arriving.
struct DownloadReply: Sendable {
    let redirect: Redirect
    var head: ResponseHead
    var outcome: ExchangeOutcome
    /// The URL that the hook for responses has set; `nil` for that of the server.
    var effectiveURL: String?
    /// The stream of the body; `nil` for a body that is complete.
    var stream: FetchStream.Source?
}

/// The failure of one attempt, and the data for the next one.
struct DownloadFailure: Error {
    let error: EideticError
    var retryAfter: Duration?
    /// The redirects that were followed, and the response that failed; none if no response arrived.
    var responses: [ResponseFreshness.Response] = []
    var partialBody: PartialBody?
    /// A Boolean value indicating whether the process was stopped during the attempt, so that the server did not
    /// fail.
    var wasStopped = false
}
