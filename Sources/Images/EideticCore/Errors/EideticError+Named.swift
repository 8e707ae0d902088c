extension EideticError.Code {
    private static let all: [Self] = [
        .invalidURL, .invalidArgument, .cancelled, .cacheMiss, .refused, .offline, .hostNotFound, .connectionRefused,
        .connectionLost, .timedOut, .tlsFailure, .httpStatus, .badRedirect, .lengthMismatch, .badResponse,
        .notAnImage, .unsupportedFormat, .truncated, .corrupt, .limitExceeded, .encodingFailed, .outOfMemory,
        .decoderFailed, .sandboxUnavailable,
        .diskFull, .permissionDenied, .notFound, .fileFailure, .cacheUnavailable, .checksumMismatch, .inUse,
    ]

    /// Creates the code with a name, such as one that another process has sent; `nil` for an unknown name.
    package init?(named name: String) {
        guard let code = Self.all.first(where: { $0.description == name }) else { return nil }
        self = code
    }
}
