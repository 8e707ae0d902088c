import EideticCore
import EideticHTTP

/// The hooks for responses and bodies, and the responses that are returned.
struct ResponseHooks: Sendable {
    let responseModifier: (@Sendable (FetchResponse) async throws(EideticError) -> FetchResponse)?
    private let decryptor: (@Sendable ([UInt8], FetchResponse) throws(EideticError) -> [UInt8])?
    private let acceptableStatus: Set<Int>
    private let time: any TimeSource
    private let pool: WorkPool

    init(_ configuration: Downloader.Configuration, pool: WorkPool) {
        responseModifier = configuration.responseModifier
        decryptor = configuration.decryptor
        acceptableStatus = configuration.acceptableStatus
        time = configuration.time
        self.pool = pool
    }

    /// A Boolean value indicating whether hooks transform bodies before their format can be detected.
    var transformsBodies: Bool { responseModifier != nil || decryptor != nil }

    /// Returns the decision about which responses to a request are returned.
    func bodies(for request: FetchRequest) -> BodyPolicy {
        BodyPolicy(
            acceptableStatus: acceptableStatus,
            keepsAll: responseModifier != nil || request.isSingleExchange
        )
    }

    /// Checks the status of the last response; throws `httpStatus` for one that is neither acceptable nor 304.
    func checkStatus(of head: ResponseHead, redirect: Redirect, isResumed: Bool) throws(EideticError) {
        let request = redirect.originalRequest
        guard head.status != 304, !request.isSingleExchange,
            !bodies(for: request).accepts(head, isResumed: isResumed)
        else { return }
        throw redirect.statusError(of: head)
    }

    /// Returns a reply as the hook for responses has modified it.
    ///
    /// - Throws: The error of the hook; `httpStatus` if the status is not acceptable then.
    func modified(_ reply: DownloadReply, isResumed: Bool) async throws(DownloadFailure) -> DownloadReply {
        guard let modify = responseModifier else { return reply }
        var reply = reply
        do throws(EideticError) {
            let received = reply.redirect.response(head: reply.head, outcome: reply.outcome)
            let response = try await modify(received.withoutShare)
            if response.status != reply.head.status { reply.head.reasonPhrase = "" }
            reply.head.status = response.status
            reply.head.headers = response.headers
            reply.outcome.body = response.bytes
            reply.effectiveURL = response.effectiveURL
            try checkStatus(of: reply.head, redirect: reply.redirect, isResumed: isResumed)
            return reply
        } catch {
            throw DownloadFailure(
                error: error,
                retryAfter: reply.head.retryAfter(now: time.now),
                responses: reply.redirect.redirects + [reply.head.cached]
            )
        }
    }

    func response(of reply: DownloadReply) -> FetchResponse {
        var response = reply.redirect.response(head: reply.head, outcome: reply.outcome)
        if let effectiveURL = reply.effectiveURL { response.effectiveURL = effectiveURL }
        return response
    }

    /// Passes a complete response through the decryptor, and then checks that it is an image.
    func applied(to response: FetchResponse, of request: FetchRequest) async throws(DownloadFailure) -> FetchResponse {
        guard transformsBodies else { return response }
        do throws(EideticError) {
            return try await transformed(response, of: request)
        } catch {
            throw DownloadFailure(error: error, responses: response.origin?.responses ?? [])
        }
    }

    private func transformed(
        _ response: FetchResponse,
        of request: FetchRequest
    ) async throws(EideticError) -> FetchResponse {
        let (share, origin) = (response.share, response.origin)
        var response = response.withoutShare
        response.origin = origin
        if let decrypt = decryptor, response.status != 304 {
            let encrypted = response
            response.bytes = try await pool.run { _ throws(EideticError) in
                try decrypt(encrypted.bytes, encrypted)
            }
        }
        if request.requiresImage, response.status != 304 { try checkImage(response, url: request.url) }
        response.share = share
        return response
    }

    func checkImage(_ response: FetchResponse, url: String) throws(EideticError) {
        guard case .format = ImageFormat.detect(in: response.bytes, isComplete: true) else {
            throw .notAnImage(
                url: url,
                headers: response.headers,
                isEmpty: response.bytes.isEmpty,
                status: response.status
            )
        }
    }
}

extension EideticError {
    static func notAnImage(url: String, headers: HTTPHeaders?, isEmpty: Bool, status: Int?) -> EideticError {
        let type = headers?["Content-Type"]?.prefix(200).printable ?? "no content type"
        let body = isEmpty ? "the body is empty" : "the body is not an image"
        return EideticError(.notAnImage, message: "\(url): \(body) (\(type))", httpStatus: status)
    }
}
