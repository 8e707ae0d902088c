extension EideticError {
    /// The kind of a failure.
    ///
    /// Further kinds may be added, so a `switch` needs a default case.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name that appears in logs and JSON.
        public let description: String

        init(_ description: String) { self.description = description }
    }
}

extension EideticError.Code {
    /// The text is not a URL that can be loaded.
    public static let invalidURL = Self("invalidURL")
    /// An argument is out of range or malformed.
    public static let invalidArgument = Self("invalidArgument")
    /// The request was cancelled, or its last caller left.
    public static let cancelled = Self("cancelled")
    /// Only the cache was allowed, and it does not contain the image.
    public static let cacheMiss = Self("cacheMiss")
    /// A policy forbids the request, as for an address in a private network.
    public static let refused = Self("refused")

    /// The downloader is offline; no request was sent.
    public static let offline = Self("offline")
    /// The host's name could not be resolved.
    public static let hostNotFound = Self("hostNotFound")
    /// The connection was refused, or the address is unreachable.
    public static let connectionRefused = Self("connectionRefused")
    /// The connection broke before the body was complete.
    public static let connectionLost = Self("connectionLost")
    /// No byte arrived within the time-out.
    public static let timedOut = Self("timedOut")
    /// The TLS handshake failed, or the server's certificate is not trusted.
    public static let tlsFailure = Self("tlsFailure")
    /// The response has a status without an image; see ``EideticError/httpStatus``.
    public static let httpStatus = Self("httpStatus")
    /// The redirect limit was exceeded, or a redirect leads to a forbidden URL.
    public static let badRedirect = Self("badRedirect")
    /// The body is shorter or longer than the server announced.
    public static let lengthMismatch = Self("lengthMismatch")
    /// The response violates HTTP.
    public static let badResponse = Self("badResponse")

    /// The bytes are not an image, but a web page, text or an unknown format.
    public static let notAnImage = Self("notAnImage")
    /// This build has no decoder for the format, or the format or variant is not supported at all.
    public static let unsupportedFormat = Self("unsupportedFormat")
    /// The image ends before it is complete.
    public static let truncated = Self("truncated")
    /// The image violates the rules of its format.
    public static let corrupt = Self("corrupt")
    /// A limit on bytes, pixels, frames or time was exceeded; checked before the work is done.
    public static let limitExceeded = Self("limitExceeded")
    /// The image could not be encoded.
    public static let encodingFailed = Self("encodingFailed")
    /// The process that decoded the image in the sandbox ended before it was done, or was ended.
    public static let decoderFailed = Self("decoderFailed")
    /// The image must be decoded in the sandbox, and there is no program for it.
    public static let sandboxUnavailable = Self("sandboxUnavailable")
    /// There is not enough memory for the image.
    public static let outOfMemory = Self("outOfMemory")

    /// The file system is full, or a quota or the inodes are exhausted.
    public static let diskFull = Self("diskFull")
    /// The user may not read or write the file or directory.
    public static let permissionDenied = Self("permissionDenied")
    /// The file or directory does not exist.
    public static let notFound = Self("notFound")
    /// The device failed, or another file system error occurred.
    public static let fileFailure = Self("fileFailure")
    /// The cache directory is unusable: a file has its name, or it contains something other than a cache.
    public static let cacheUnavailable = Self("cacheUnavailable")
    /// A stored entry does not match its checksum or its key.
    public static let checksumMismatch = Self("checksumMismatch")

    /// Another process uses what only one may use, as a background session.
    public static let inUse = Self("inUse")
}

extension EideticError.Code {
    /// Returns whether an error has this code, so that it can be a pattern: `catch EideticError.Code.cancelled { … }`.
    public static func ~= (code: Self, error: any Error) -> Bool { (error as? EideticError)?.code == code }
}
