extension EideticError.Code {
    /// The remedy for the failure, in one line; the last column of `docs/errors.md`.
    ///
    /// It names settings of a program and options of the command; the message names the URL or the file.
    package var remedy: String { Self.remedies[self] ?? "" }

    package static let remedies: [Self: String] = [
        .invalidURL: "correct the URL as the message says",
        .invalidArgument: "correct the value as the message says",
        .refused: "change the policy that the message names, if the request is meant",
        .cancelled: "nothing to do",
        .cacheMiss: "load it once with the network; cachePolicy, --cache and --offline forbid that",
        .cacheUnavailable: "choose a directory of its own, with mode 0700; for a shared tier, check its server",
        .checksumMismatch: "nothing to do: the entry is removed and loaded again; only the log has this error",
        .offline: "wait until the network is back, or allow requests (isOffline, --offline)",
        .hostNotFound: "check the name and the network, or try again (retryFailed, --retry)",
        .connectionRefused: "check whether the server runs at this port, or try again (retryFailed, --retry)",
        .connectionLost: "try again (retryFailed, --retry); what has arrived is kept if the server allows it",
        .timedOut: "try again, or allow more time (FetchRequest.timeout, --timeout)",
        .tlsFailure: "check the certificate, or trust its issuer (certificateAuthorityFile, --cacert)",
        .httpStatus: "check the URL, with 401 the credentials; 408, 429 and 5xx are temporary (retryFailed, --retry)",
        .badRedirect: "open the URL in a browser and load the address it ends at, or correct the server",
        .lengthMismatch: "try again (retryFailed, --retry); if it recurs, correct the server",
        .badResponse: "correct the server, or the proxy before it",
        .notAnImage: "look at what the server or the file contains; often it is a page with an error",
        .unsupportedFormat: "convert the file; ImageDecoder.supportedFormats lists what this build reads",
        .truncated: "get the whole file; allowsPartial and load --partial show what is there",
        .corrupt: "repair or replace the file; allowsPartial and load --partial show what is sound",
        .limitExceeded: "ask for less, or raise a limit that can be set (decodeLimits) if the file is trusted",
        .encodingFailed: "choose another format or size",
        .decoderFailed: "replace the file, which may be an attack; other images are not affected",
        .sandboxUnavailable: "install eidetic-decode, or set another decodePolicy",
        .outOfMemory: "ask for a smaller size",
        .diskFull: "make room",
        .permissionDenied: "change the mode or the owner",
        .notFound: "check the path",
        .fileFailure: "look at the file and its device",
        .inUse: "end the other process, or use another name",
    ]
}
