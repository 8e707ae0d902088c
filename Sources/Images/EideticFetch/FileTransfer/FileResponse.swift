import CCurl
package import EideticCore
package import EideticHTTP

/// The head of a response to a file exchange.
package struct FileResponse: Sendable {
    private let head: ResponseHead
    /// The URL of a redirect, resolved; `nil` for another response.
    package internal(set) var redirectTarget: String?
    /// A Boolean value indicating whether the connection leads to a public address.
    package internal(set) var isFromPublicAddress = false

    init(_ head: ResponseHead) { self.head = head }

    package var status: Int { head.status }
    package var headers: HTTPHeaders { head.headers }
    package var isRedirect: Bool { head.isRedirect }
    /// A Boolean value indicating whether the response is known to have a part of the body only.
    package var isPart: Bool { head.isPart }
    /// The length of this body; `nil` if it is not announced.
    package var contentLength: Int? { head.headers["Transfer-Encoding"] == nil ? head.contentLength : nil }
    /// The validator with which the body can be continued; `nil` if the server has none that is strong.
    package var strongValidator: String? { Validators(headers.fields).strongValidator }

    /// Returns the delay that the server asks for with status 429 or 503; `nil` if it asks for none.
    package func retryDelay(now: Timestamp) -> Duration? { head.retryAfter(now: now) }

    /// The first byte, and the length of the whole body if it is known, of a response with a part of the body.
    package var partialRange: (start: Int, end: Int, total: Int?)? {
        guard status == 206, let range = headers["Content-Range"].flatMap({ ContentRange($0) }) else { return nil }
        return (range.first, range.last + 1, range.total)
    }

    /// The length of the whole body in a response with status 416; `nil` if the server does not state it.
    package var unsatisfiedRangeLength: Int? {
        guard status == 416, let field = headers["Content-Range"], field.hasPrefix("bytes */") else { return nil }
        return Int(field.dropFirst(8)).flatMap { $0 < 0 ? nil : $0 }
    }
}

extension TransferURL {
    /// Returns the request that follows a redirect.
    ///
    /// - Throws: `badRedirect` if the target is missing or invalid, or the redirect leads from https to http.
    package func redirected(to target: String?) throws(EideticError) -> TransferURL {
        guard let target else {
            throw EideticError(
                .badRedirect,
                message: "\(text): the response has no Location header with a URL that can be loaded"
            )
        }
        let url: TransferURL
        do throws(EideticError) {
            url = try TransferURL(target)
        } catch {
            throw EideticError(.badRedirect, message: "\(text): \(error.message)")
        }
        guard origin.scheme == "http" || url.origin.scheme == "https" else {
            throw EideticError(.badRedirect, message: "\(text): a redirect from https to http is not followed")
        }
        return url
    }

    /// Returns the URL of a `Location` field of a response from this URL; `nil` if it is invalid.
    package func resolve(_ reference: String) -> TransferURL? {
        ParsedURL.resolve(reference, against: text).flatMap { try? TransferURL($0) }
    }
}

extension HTTPHeaders {
    /// The fields that may be sent to another origin after a redirect.
    package var safeForOtherOrigins: HTTPHeaders { filter(Redirect.isSafeForOtherOrigins) }

    /// Returns these fields without those of the names.
    package func removing(_ names: [String]) -> HTTPHeaders {
        filter { name in !names.contains { HTTPHeaders.isSameName($0, name) } }
    }
}
