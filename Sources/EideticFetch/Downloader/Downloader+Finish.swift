import EideticCore

extension Downloader {
    /// Whether hooks look at a body before it can be told what it is.
    var changesBodies: Bool { configuration.responseModifier != nil || configuration.decryptor != nil }

    /// Hands a complete answer through the hooks, and then looks whether it is a picture.
    func finish(_ response: FetchResponse, _ identity: FetchIdentity) async throws(EideticError) -> FetchResponse {
        guard changesBodies else { return response }
        var response = response
        if let modify = configuration.responseModifier { response = try await modify(response) }
        if let decrypt = configuration.decryptor, response.status != 304 {
            let encrypted = response
            response.bytes = try await pool.run { _ throws(EideticError) in
                try decrypt(encrypted.bytes, encrypted)
            }
        }
        let request = identity.request
        if request.requiresPicture, response.status != 304 {
            guard case .format = ImageFormat.detect(response.bytes, isComplete: true) else {
                let isEmpty = response.bytes.isEmpty
                throw .notAPicture(request.url, response.headers, isEmpty: isEmpty, status: response.status)
            }
        }
        if let file = identity.file { return try await save(response, to: file) }
        return response
    }
}

extension EideticError {
    static func notAPicture(_ url: String, _ headers: HTTPHeaders?, isEmpty: Bool, status: Int?) -> EideticError {
        let type = headers?["Content-Type"] ?? "no content type"
        let size = isEmpty ? "an empty body" : "a body that is no picture"
        return EideticError(.notAPicture, "\(url): \(size) (\(type))", httpStatus: status)
    }
}
