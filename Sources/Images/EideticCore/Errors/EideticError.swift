/// An error of Eidetic, with its kind, its message and its cause.
///
/// Switch on ``kind``, then on ``code``; log ``message``.
public struct EideticError: Error, Sendable, CustomStringConvertible {
    /// The name of the failure.
    public let code: Code

    /// One readable line: what failed, where and why.
    public let message: String

    /// The status of the HTTP response that caused the failure, if any.
    public let httpStatus: Int?

    /// A Boolean value indicating whether the error is that of an earlier request, and no request was sent this time;
    /// false by default.
    ///
    /// The message states when the next request is possible.
    public package(set) var isRemembered = false

    /// The system error number (`errno`) that caused the failure, if any.
    public let systemErrorNumber: Int32?

    /// Creates an error.
    public init(_ code: Code, message: String, httpStatus: Int? = nil, systemErrorNumber: Int32? = nil) {
        self.code = code
        self.message = message
        self.httpStatus = httpStatus
        self.systemErrorNumber = systemErrorNumber
    }

    /// The error of a cancelled request.
    ///
    /// A cancelled task throws it, too. `catch EideticError.Code.cancelled` matches it; `catch is CancellationError`
    /// does not, because errors are typed.
    public static let cancelled = EideticError(.cancelled, message: "cancelled")

    /// Returns the error with another message.
    package func replacingMessage(with message: String) -> EideticError {
        var error = EideticError(code, message: message, httpStatus: httpStatus, systemErrorNumber: systemErrorNumber)
        error.isRemembered = isRemembered
        return error
    }

    /// The code and the message.
    public var description: String { "\(code): \(message)" }
}

extension EideticError.Code {
    package static let all: [Self] = [
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

extension EideticError {
    /// A Boolean value indicating whether the transport failed: no response arrived, or only a part of one.
    package var isTransportFailure: Bool { isTransient && code != .httpStatus }

    /// A Boolean value indicating whether the failure passes in the network or at the server, so that another attempt
    /// may succeed.
    package var isTransient: Bool {
        switch code {
        case .hostNotFound, .connectionRefused, .connectionLost, .timedOut, .lengthMismatch: true
        case .httpStatus: httpStatus.map { $0 >= 500 || [408, 425, 429].contains($0) } ?? false
        default: false
        }
    }
}
