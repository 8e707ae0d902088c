extension EideticError {
    /// A kind of failure; new ones may be added, so a `switch` needs a default.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name that logs and JSON show.
        public let description: String

        init(_ description: String) { self.description = description }
    }
}

extension EideticError.Code {
    // Requests.
    /// The text is not a URL that can be loaded.
    public static let invalidURL = Self("invalidURL")
    /// A value that the caller gave cannot be used.
    public static let invalidArgument = Self("invalidArgument")
    /// Nobody waited for the result any more.
    public static let cancelled = Self("cancelled")
    /// The cache was asked alone, and does not have it.
    public static let cacheMiss = Self("cacheMiss")
    /// Not allowed by a policy: a forbidden scheme, a host, a URL that failed for good before.
    public static let refused = Self("refused")

    // Network.
    /// Not asked: the downloader is offline.
    public static let offline = Self("offline")
    /// The host's name could not be resolved.
    public static let hostNotFound = Self("hostNotFound")
    /// Nobody listens at the address, or it cannot be reached.
    public static let connectionRefused = Self("connectionRefused")
    /// The connection broke before the body was complete.
    public static let connectionLost = Self("connectionLost")
    /// No byte came for the length of the time-out.
    public static let timedOut = Self("timedOut")
    /// The server's certificate or the TLS session was not acceptable.
    public static let tlsFailure = Self("tlsFailure")
    /// The server answered with a status that carries no picture; see ``EideticError/httpStatus``.
    public static let httpStatus = Self("httpStatus")
    /// More redirects than allowed, or one to where none may lead.
    public static let badRedirect = Self("badRedirect")
    /// Fewer or more bytes came than the server announced.
    public static let lengthMismatch = Self("lengthMismatch")
    /// The server's answer broke the protocol.
    public static let badResponse = Self("badResponse")

    // Pictures.
    /// The bytes are not a picture: a web page, text, or nothing known.
    public static let notAnImage = Self("notAPicture")
    /// The format is known, but this build has no decoder or encoder for it.
    public static let unsupportedFormat = Self("unsupportedFormat")
    /// The picture ends before it is complete.
    public static let truncated = Self("truncated")
    /// The picture breaks the rules of its format.
    public static let corrupt = Self("corrupt")
    /// A limit on bytes, pixels, frames or time was exceeded; refused before the work.
    public static let limitExceeded = Self("limitExceeded")
    /// The picture could not be encoded.
    public static let encodingFailed = Self("encodingFailed")
    /// The machine had no memory for the picture.
    public static let outOfMemory = Self("outOfMemory")

    // Files.
    /// The file system is full, or its quota or inodes are used up.
    public static let diskFull = Self("diskFull")
    /// The file or directory may not be read or written by this user.
    public static let permissionDenied = Self("permissionDenied")
    /// The file or directory is not there.
    public static let notFound = Self("notFound")
    /// The device failed, or another error of the file system.
    public static let fileFailure = Self("fileFailure")
    /// The cache's directory cannot be used: a file stands in its place, or it belongs to something else.
    public static let cacheUnavailable = Self("cacheUnavailable")
    /// A stored entry does not match its checksum or its key.
    public static let checksumMismatch = Self("checksumMismatch")
}
