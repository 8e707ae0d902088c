extension EideticError {
    /// The category of a failure, for a `switch`; ``Code`` identifies the failure.
    public enum Kind: Sendable, Hashable {
        /// The request itself: a URL, an argument, or a policy that forbids it.
        case request
        /// The request was cancelled, or its last caller left.
        case cancelled
        /// The connection to the server; another attempt may succeed.
        case network
        /// The response of the server.
        case http
        /// The bytes of the image.
        case image
        /// The caches: a miss, or an unusable cache.
        case cache
        /// This machine: files, memory, processes.
        case system
    }

    /// The category of the failure.
    public var kind: Kind { code.kind }

    /// The name of a failure.
    ///
    /// Codes may be added, so a `switch` needs a default case. `docs/errors.md` lists all codes.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name that appears in logs and JSON.
        public let description: String
        package let kind: Kind

        private init(_ description: String, of kind: Kind) {
            self.description = description
            self.kind = kind
        }
    }
}

extension EideticError.Code {
    /// The text is not a URL that can be loaded.
    public static let invalidURL = Self("invalidURL", of: .request)
    /// An argument is out of range or malformed.
    public static let invalidArgument = Self("invalidArgument", of: .request)
    /// The request was cancelled, or its last caller left.
    public static let cancelled = Self("cancelled", of: .cancelled)
    /// Only the cache was allowed, and it does not contain the image.
    public static let cacheMiss = Self("cacheMiss", of: .cache)
    /// A policy forbids the request, for example to an address in a private network.
    public static let refused = Self("refused", of: .request)

    /// The downloader is offline; no request was sent.
    public static let offline = Self("offline", of: .network)
    /// The host's name could not be resolved.
    public static let hostNotFound = Self("hostNotFound", of: .network)
    /// The connection was refused, or the address is unreachable.
    public static let connectionRefused = Self("connectionRefused", of: .network)
    /// The connection broke before the body was complete.
    public static let connectionLost = Self("connectionLost", of: .network)
    /// No byte arrived within the time-out.
    public static let timedOut = Self("timedOut", of: .network)
    /// The TLS handshake failed, or the server's certificate is not trusted.
    public static let tlsFailure = Self("tlsFailure", of: .network)
    /// The response has a status without an image; see ``EideticError/httpStatus``.
    public static let httpStatus = Self("httpStatus", of: .http)
    /// The redirect limit was exceeded, or a redirect leads to a forbidden URL.
    public static let badRedirect = Self("badRedirect", of: .http)
    /// The body is shorter or longer than the server announced.
    public static let lengthMismatch = Self("lengthMismatch", of: .http)
    /// The response violates HTTP.
    public static let badResponse = Self("badResponse", of: .http)

    /// The bytes are not an image, but a web page, text or an unknown format.
    public static let notAnImage = Self("notAnImage", of: .image)
    /// This build has no decoder for the format, or the format or variant is not supported at all.
    public static let unsupportedFormat = Self("unsupportedFormat", of: .image)
    /// The image ends before it is complete.
    public static let truncated = Self("truncated", of: .image)
    /// The image violates the rules of its format.
    public static let corrupt = Self("corrupt", of: .image)
    /// A limit on bytes, pixels, frames or time was exceeded; checked before the work is done.
    public static let limitExceeded = Self("limitExceeded", of: .image)
    /// The image could not be encoded.
    public static let encodingFailed = Self("encodingFailed", of: .image)
    /// The sandbox process crashed or was killed while it decoded the image.
    public static let decoderFailed = Self("decoderFailed", of: .image)
    /// The image must be decoded in the sandbox, but no sandbox process can be started.
    public static let sandboxUnavailable = Self("sandboxUnavailable", of: .system)
    /// There is not enough memory for the image.
    public static let outOfMemory = Self("outOfMemory", of: .system)

    /// The file system is full, or a quota or the inodes are exhausted.
    public static let diskFull = Self("diskFull", of: .system)
    /// The user may not read or write the file or directory.
    public static let permissionDenied = Self("permissionDenied", of: .system)
    /// The file or directory does not exist.
    public static let notFound = Self("notFound", of: .system)
    /// The device failed, or another file system error occurred.
    public static let fileFailure = Self("fileFailure", of: .system)
    /// The cache directory is unusable: a file has its name, or it contains something other than a cache.
    public static let cacheUnavailable = Self("cacheUnavailable", of: .cache)
    /// A stored entry does not match its checksum or its key.
    public static let checksumMismatch = Self("checksumMismatch", of: .cache)

    /// Another process holds something exclusive, such as a background session.
    public static let inUse = Self("inUse", of: .system)
}

extension EideticError.Code {
    /// Returns whether an error has this code, so that it can be a pattern: `catch EideticError.Code.cancelled { … }`.
    public static func ~= (code: Self, error: any Error) -> Bool { (error as? EideticError)?.code == code }
}
