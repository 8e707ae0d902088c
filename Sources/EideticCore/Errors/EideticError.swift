/// What went wrong, for whom, and why.
///
/// Switch on ``code``; log ``message``.
public struct EideticError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it was.
    public let code: Code

    /// One line that says what was wrong and where, for a person.
    public let message: String

    /// The status of the HTTP response that caused the failure, where there was one.
    public let httpStatus: Int?

    /// The number of the system's error (`errno`), where there was one.
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

    /// Nobody waited for the result any more.
    public static let cancelled = EideticError(.cancelled, message: "cancelled")

    /// The code and the message.
    public var description: String { "\(code): \(message)" }
}
