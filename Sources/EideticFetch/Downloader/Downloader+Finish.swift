import EideticCore

extension Downloader {
    /// Whether hooks look at a body before it can be told what it is.
    var transformsBodies: Bool { configuration.responseModifier != nil || configuration.decryptor != nil }

    /// Hands a complete answer through the hooks, and then looks whether it is a picture.
    func applyHooks(to response: FetchResponse, key: DownloadKey) async throws(EideticError) -> FetchResponse {
        guard transformsBodies else { return response }
        var response = response
        if let modify = configuration.responseModifier { response = try await modify(response) }
        if let decrypt = configuration.decryptor, response.status != 304 {
            let encrypted = response
            response.bytes = try await pool.run { _ throws(EideticError) in
                try decrypt(encrypted.bytes, encrypted)
            }
        }
        let request = key.request
        if request.requiresImage, response.status != 304 {
            guard case .format = ImageFormat.detect(in: response.bytes, isComplete: true) else {
                let isEmpty = response.bytes.isEmpty
                throw .notAnImage(
                    url: request.url,
                    headers: response.headers,
                    isEmpty: isEmpty,
                    status: response.status
                )
            }
        }
        if let file = key.filePath { return try await write(response, to: file) }
        return response
    }
}

extension EideticError {
    static func notAnImage(url: String, headers: HTTPHeaders?, isEmpty: Bool, status: Int?) -> EideticError {
        let type = headers?["Content-Type"] ?? "no content type"
        let size = isEmpty ? "an empty body" : "a body that is no picture"
        return EideticError(.notAnImage, message: "\(url): \(size) (\(type))", httpStatus: status)
    }
}
