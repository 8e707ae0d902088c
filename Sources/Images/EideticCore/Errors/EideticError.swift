/// An error of Eidetic, with its kind, its message and its cause.
///
/// Switch on ``code``; log ``message``.
public struct EideticError: Error, Sendable, CustomStringConvertible {
    /// The kind of the failure.
    public let code: Code

    /// One line for people: what failed, where and why.
    public let message: String

    /// The status of the HTTP response that caused the failure, if any.
    public let httpStatus: Int?

    /// A Boolean value indicating whether the failure is that of an earlier request, and no request was sent this time.
    ///
    /// The message states when the next request is possible.
    public package(set) var isRemembered = false

    /// The system error number (`errno`) that caused the failure, if any.
    public let systemErrorNumber: Int32?

    /// Creates an error.
    public init(
        _ code: Code,
        message: String,
        httpStatus: Int? = nil,
        systemErrorNumber: Int32? = nil
    ) {
        self.code = code
        self.message = message
        self.httpStatus = httpStatus
        self.systemErrorNumber = systemErrorNumber
    }

    /// The error of a cancelled request.
    ///
    /// A task that is cancelled throws it, too: `catch EideticError.Code.cancelled` matches it, and
    /// `catch is CancellationError` does not, because errors are typed.
    public static let cancelled = EideticError(.cancelled, message: "cancelled")

    /// The code and the message.
    public var description: String { "\(code): \(message)" }
}
