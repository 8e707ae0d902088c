import EideticCore
import EideticHTTP

extension Downloader {
    /// A Boolean value indicating whether hooks transform bodies before their format can be detected.
    var transformsBodies: Bool { configuration.responseModifier != nil || configuration.decryptor != nil }

    /// Passes a complete response through the hooks, and then checks that it is an image.
    func applyHooks(to response: FetchResponse, key: DownloadKey) async throws(Failure) -> FetchResponse {
        guard transformsBodies else { return response }
        do throws(EideticError) {
            return try await transformed(response, key: key)
        } catch {
            throw Failure(error: error, responses: response.origin?.responses ?? [])
        }
    }

    private func transformed(
        _ response: FetchResponse,
        key: DownloadKey
    ) async throws(EideticError) -> FetchResponse {
        let (share, origin) = (response.share, response.origin)
        var response = response.withoutShare
        if let modify = configuration.responseModifier { response = try await modify(response) }
        response.origin = origin
        if let decrypt = configuration.decryptor, response.status != 304 {
            let encrypted = response
            response.bytes = try await pool.run { _ throws(EideticError) in
                try decrypt(encrypted.bytes, encrypted)
            }
        }
        if key.request.requiresImage, response.status != 304 { try checkImage(response, url: key.request.url) }
        if let filePath = key.filePath { return try await write(response, to: filePath) }
        response.share = share
        return response
    }

    private func checkImage(_ response: FetchResponse, url: String) throws(EideticError) {
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
