public import EideticCore
import EideticHTTP
public import EideticFetch
import EideticStore
import FoundationEssentials

extension ImageRequest {
    /// The place that the bytes of an image come from.
    public enum Resource: Sendable {
        /// A file on a server. Its bytes are stored in the disk cache.
        case remote(FetchRequest)

        /// A file of this machine. It is not copied into the disk cache.
        case file(LocalFile)

        /// Bytes in memory, as those of a `data:` URL. They are not copied into the disk cache.
        case bytes([UInt8])

        /// A function that provides the bytes; equal names mean equal bytes. They are stored in the disk cache.
        case provider(name: String, @Sendable () async throws(EideticError) -> [UInt8])

        /// A text from which nothing can be loaded, and the error of its loads.
        case invalid(String, EideticError)

        /// Creates a resource from the text of a URL.
        ///
        /// The file of a `file` URL is looked at by each load, on a thread of the pipeline; so an image in memory is
        /// not delivered before the call returns, as it is for a ``LocalFile`` that was created before.
        ///
        /// - Parameter url: A URL with the scheme `http`, `https`, `file` or `data`; the loads of any other text fail.
        package init(url: String) {
            do throws(EideticError) {
                switch url.prefix(while: { $0 != ":" }).lowercased() {
                case "file": self = .file(try LocalFile(unexaminedURL: url))
                case "data": self = .bytes(try DataURL(url).bytes)
                default: self = .remote(try FetchRequest(url: url))
                }
            } catch {
                self = .invalid(url, Self.schemeError(of: url) ?? error)
            }
        }
    }
}

extension ImageRequest.Resource {
    /// Returns the error of a text without a scheme, with the URL that was probably meant, or with a scheme that
    /// nothing loads; `nil` for other texts.
    private static func schemeError(of text: String) -> EideticError? {
        if let scheme = text.firstRange(of: "://").map({ text[..<$0.lowerBound].lowercased() }), scheme.isHTTPToken,
            scheme != "http", scheme != "https"
        {
            let problem = "the scheme \"\(scheme)\" is not supported, only http, https, file and data"
            let excerpt = text.withoutPasswords.prefix(200)
            return EideticError(.invalidURL, message: "\"\(excerpt)\" is no URL that can be loaded: \(problem)")
        }
        let isPath = ["/", "./", "../", "~/"].contains { text.hasPrefix($0) } && !text.hasPrefix("//")
        guard isPath || !text.isEmpty && !text.contains(":") else { return nil }
        let problem =
            switch text {
            case _ where isPath && text.hasPrefix("/"): "is a path and no URL; use file://\(text.prefix(200))"
            case _ where isPath: "is a path and no URL; use file:// and an absolute path"
            default: "has no scheme; use https://, or file:// and an absolute path"
            }
        return EideticError(.invalidURL, message: "\"\(text.prefix(200))\" \(problem)")
    }

    /// A name for messages.
    var name: String {
        switch self {
        case .remote(let request): request.url
        case .file(let file): file.path
        case .bytes(let bytes): "\(bytes.count) bytes"
        case .provider(let name, _): name
        case .invalid(let url, _): url.count > 200 ? "\(url.prefix(200))…" : url.withoutPasswords
        }
    }

    /// Returns the resource with other header fields for its server.
    func with(headers: HTTPHeaders) -> ImageRequest.Resource {
        guard case .remote(var request) = self else { return self }
        request.headers = headers
        return .remote(request)
    }

    /// Throws the error of a resource that cannot be loaded.
    func validate() throws(EideticError) { if case .invalid(_, let error) = self { throw error } }

    /// The request that brings the bytes; `nil` if no server is needed.
    var remote: FetchRequest? { if case .remote(let request) = self { request } else { nil } }

    /// Returns whether there is a ``remote`` that satisfies a condition; without a copy of it.
    func hasRemote(where condition: (FetchRequest) -> Bool) -> Bool {
        if case .remote(let request) = self { condition(request) } else { false }
    }

    /// A Boolean value indicating whether the bytes are stored in the disk cache.
    var isStoredOnDisk: Bool {
        switch self {
        case .remote, .provider: true
        case .file, .bytes, .invalid: false
        }
    }
}

// MARK: Identity
extension ImageRequest.Resource {
    /// Returns the identity of the bytes, without the query items that `ignored` names.
    func identity(ignoringQueryItems ignored: Set<String>) -> String {
        switch self {
        case .remote(let request): Self.identity(of: request, ignoringQueryItems: ignored)
        case .file(let file): "file:\(file.path)\n\(file.version ?? "")"
        case .bytes(let bytes): "data:\(Digest(sha256: bytes).hexadecimal)"
        case .provider(let name, _): "provider:\(name)"
        case .invalid(let url, _): "invalid:\(url)"
        }
    }

    /// A suffix that separates the states of a local file; empty for any other resource.
    var versionSuffix: String { if case .file(let file) = self { "\n\(file.version ?? "")" } else { "" } }

    /// Returns a suffix that separates bytes from those that other options bring from the same URL.
    ///
    /// Bytes from a server with an unverified certificate may be forged, and cookies tell users apart.
    func identitySuffix(for options: ImageOptions) -> String {
        let isUnverified = hasRemote { options.contains(.allowInvalidCertificates) || $0.allowsInvalidCertificates }
        let hasCookies = hasRemote { options.contains(.handleCookies) || $0.usesCookies }
        return (isUnverified ? "\nany certificate" : "") + (hasCookies ? "\nwith cookies" : "")
    }

    /// Returns the identity of a server's file: its URL, and a digest of the header fields and credentials.
    ///
    /// Directives for caches (`Cache-Control`, `Pragma`) do not change the image.
    ///
    /// Two users with different fields or passwords never share an image. A disk cache stores the digest only in a form
    /// that depends on a key of its directory.
    private static func identity(of request: FetchRequest, ignoringQueryItems ignored: Set<String>) -> String {
        let address = ignored.isEmpty ? request.url : SignedURL.removingQueryItems(ignored, from: request.url)
        // The body may be as secret as a header field.
        let body = request.body.map { SecretKeyPart.text(for: Digest(sha256: $0).hexadecimal) } ?? ""
        let url = request.isGet ? address : "\(address)\n\(request.method)\(body)"
        guard !request.headers.isEmpty || request.credentials != nil else { return url }
        let significant = request.headers.fields.filter { !CacheControl.isRequestField($0.name) }
        guard !significant.isEmpty || request.credentials != nil else { return url }
        let fields = significant.map { "\($0.name.lowercased()): \($0.value)" }.sorted()
        let secret = fields.joined(separator: "\n") + (request.credentials.map { "\n\($0)" } ?? "")
        return url + SecretKeyPart.text(for: secret)
    }
}
