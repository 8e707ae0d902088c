import EideticCore
import EideticFetch
import EideticHTTP
import EideticTransfer

extension TransferRequest {
    /// Returns the request as it is stored: the URL in normal form, its credentials in a header field.
    ///
    /// - Throws: `invalidURL`, or `invalidArgument` for anything else that cannot be sent.
    func normalised() throws(EideticError) -> TransferRequest {
        var result = self
        let target = try TransferURL(url)
        result.url = target.text
        guard target.text.utf8.count <= TransferLimits.urlLength else {
            throw EideticError(.invalidURL, message: "the URL is longer than \(TransferLimits.urlLength) bytes")
        }
        result.headers = headers.removing([
            "Range", "If-Range", "Content-Length", "Transfer-Encoding", "Expect", "Host",
        ])
        if let authorization = target.authorization, headers["Authorization"] == nil {
            result.headers["Authorization"] = authorization
        }
        try result.headers.validate()
        let size = result.headers.fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        try require(
            size <= TransferLimits.headerLength,
            otherwise: "header fields exceed \(TransferLimits.headerLength) bytes"
        )
        try require(
            note.count <= TransferLimits.noteLength,
            otherwise: "the note exceeds \(TransferLimits.noteLength) bytes"
        )
        try require(expectedLength ?? 0 >= 0, otherwise: "the expected length is negative")
        try require(
            resumeData?.count ?? 0 <= TransferLimits.resumeDataLength && (resumeData == nil || kind == .download),
            otherwise: "invalid resume data"
        )
        let isMethod = (1...32).contains(method.utf8.count) && method.utf8.allSatisfy { (0x41...0x5a).contains($0) }
        try require(isMethod, otherwise: "\"\(method)\" is not an HTTP method")
        try require(kind == .upload || method == "GET", otherwise: "a download has the method GET")
        try require(
            kind == .download || method != "GET" && method != "HEAD",
            otherwise: "an upload cannot have \(method)"
        )
        result.filePath = nil
        return result
    }

    private func require(_ condition: Bool, otherwise fault: String) throws(EideticError) {
        if !condition { throw EideticError(.invalidArgument, message: "\(url): \(fault)") }
    }
}

extension TransferSessionConfiguration {
    /// Throws `invalidArgument` for a setting out of range.
    func validate() throws(EideticError) {
        guard (1...255).contains(identifier.utf8.count), !identifier.utf8.contains(0) else {
            throw EideticError(.invalidArgument, message: "the identifier of a session has 1 to 255 bytes")
        }
        guard requestTimeout > .zero, resourceTimeout > .zero, resourceTimeout <= .seconds(366 * 86_400) else {
            throw EideticError(.invalidArgument, message: "a time-out of the session \"\(identifier)\" is out of range")
        }
        guard connectionsPerHost > 0 else {
            throw EideticError(
                .invalidArgument,
                message: "the session \"\(identifier)\" needs at least one connection to a host"
            )
        }
    }
}
