public import EideticCore
public import EideticFetch
import EideticStore
public import FoundationEssentials

extension ImageRequest {
    /// The source of the bytes of an image.
    public struct Resource: Sendable {
        package enum Kind: Sendable {
            indirect case remote(FetchRequest)
            case file(LocalFile)
            case bytes([UInt8])
            case provider(name: String, @Sendable () async throws(EideticError) -> [UInt8])
            /// A text from which nothing can be loaded, and the error of its loads.
            case invalid(String, EideticError)
        }

        package let kind: Kind

        package init(_ kind: Kind) { self.kind = kind }

        /// Creates a resource from the text of a URL.
        ///
        /// The file of a `file` URL is looked at by each load, on a thread of the pipeline.
        ///
        /// - Parameter url: A URL with the scheme `http`, `https`, `file` or `data`; the loads of any other text fail.
        package init(url: String) {
            do throws(EideticError) {
                if url.hasPrefix("http") {
                    kind = .remote(try FetchRequest(url: url))
                    return
                }
                let trimmed = url.drop { $0.isWhitespace }
                switch trimmed.prefix(while: { $0 != ":" }).lowercased() {
                case "file": kind = .file(try LocalFile(unexaminedURL: String(trimmed)))
                case "data": kind = .bytes(try DataURL(String(trimmed)).bytes)
                default: kind = .remote(try FetchRequest(url: url))
                }
            } catch {
                kind = .invalid(url, Self.schemeError(of: url) ?? error)
            }
        }

        /// Returns a resource on a server, loaded with a request; its bytes are stored in the disk cache.
        public static func remote(_ request: FetchRequest) -> Resource {
            guard let reason = request.invalidity else { return Resource(.remote(request)) }
            return Resource(.invalid(request.url, EideticError(.invalidURL, message: reason)))
        }

        /// Returns a local file; it is not copied into the disk cache.
        ///
        /// Each load checks the file's state; a changed file is another image.
        public static func file(path: String) -> Resource { Resource(.file(LocalFile(unexaminedPath: path))) }

        /// Returns bytes in memory, like those of a `data:` URL; they are not copied into the disk cache.
        ///
        /// - Parameter bytes: An array, which is kept without a copy, or other bytes, such as `Data`, which are copied
        ///   once.
        /// - Returns: The resource.
        public static func bytes(_ bytes: some ContiguousBytes) -> Resource { Resource(.bytes(bytes.array)) }

        /// Returns a resource whose bytes a function provides; equal names must mean equal bytes.
        ///
        /// They are stored in the disk cache.
        public static func provider<Bytes: ContiguousBytes & SendableMetatype>(
            name: String,
            by provide: @escaping @Sendable () async throws(EideticError) -> Bytes
        ) -> Resource {
            Resource(.provider(name: name) { () throws(EideticError) in try await provide().array })
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
            let excerpt = text.withoutPasswordsOfURL.prefix(200)
            return EideticError(.invalidURL, message: "\"\(excerpt)\" is no URL that can be loaded: \(problem)")
        }
        let isPath = ["/", "./", "../", "~/"].contains { text.hasPrefix($0) } && !text.hasPrefix("//")
        let start = text.drop { $0.isWhitespace }.prefix { $0 != ":" }.lowercased()
        guard isPath || !text.isEmpty && !["http", "https", "file", "data"].contains(start) else { return nil }
        let problem =
            switch text {
            case _ where isPath && text.hasPrefix("/"): "is a path and no URL; use file://\(text.prefix(200))"
            case _ where isPath: "is a path and no URL; use file:// and an absolute path"
            case _ where text.contains(":"): "is no URL that can be loaded; \(Self.schemeHint)"
            default: "has no scheme; \(Self.schemeHint)"
            }
        return EideticError(.invalidURL, message: "\"\(text.withoutPasswordsOfURL.prefix(200))\" \(problem)")
    }

    private static let schemeHint = "use https://, or file:// and an absolute path"

    var name: String {
        switch kind {
        case .remote(let request): request.url
        case .file(let file): file.path
        case .bytes(let bytes): "\(bytes.count) bytes"
        case .provider(let name, _): name
        case .invalid(let url, _): Self.excerpt(of: url.withoutPasswordsOfURL)
        }
    }

    private static func excerpt(of url: String) -> String { url.count > 200 ? "\(url.prefix(200))…" : url }

    /// The request to the server; `nil` for a local resource.
    package var remote: FetchRequest? { if case .remote(let request) = kind { request } else { nil } }

    /// Returns whether there is a ``remote`` that satisfies a condition; without a copy of it.
    func hasRemote(where condition: (FetchRequest) -> Bool) -> Bool {
        if case .remote(let request) = kind { condition(request) } else { false }
    }

    /// A Boolean value indicating whether the bytes are stored in the disk cache.
    var isStoredOnDisk: Bool {
        switch kind {
        case .remote, .provider: true
        case .file, .bytes, .invalid: false
        }
    }
}

// MARK: Identity
extension ImageRequest.Resource {
    /// Returns the identity of the bytes, without the query items that `ignored` names.
    func identity(ignoringQueryItems ignored: Set<String>) -> String {
        switch kind {
        case .remote(let request): Self.identity(of: request, ignoringQueryItems: ignored)
        case .file(let file): "file:\(file.path)\n\(file.version ?? "")"
        case .bytes(let bytes): "data:\(Digest(sha256: bytes).hexadecimal)"
        case .provider(let name, _): "provider:\(name)"
        case .invalid(let url, _): "invalid:\(url)"
        }
    }

    /// A suffix that separates the states of a local file; empty for any other resource.
    var versionSuffix: String { if case .file(let file) = kind { "\n\(file.version ?? "")" } else { "" } }

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

/// The directives for caches in the header fields of a request.
extension ImageRequest {
    var server: FetchRequest? { resource.remote }

    var cacheFields: [HTTPField] { server?.headers.fields ?? [] }

    /// A Boolean value indicating whether only a stored response is wanted.
    var isOnlyIfCached: Bool { resource.hasRemote { !$0.headers.isEmpty && $0.cacheControl.onlyIfCached } }

    /// The directives by which caches on the way are asked to revalidate their responses as well.
    var reloadDirectives: String {
        let own = cacheFields.combinedValue(of: "cache-control")
        guard let own else { return "max-age=0" }
        return CacheControl(cacheFields).refusesCached ? own : own + ", max-age=0"
    }
}

extension FetchRequest {
    /// A Boolean value indicating whether the directives of the request limit the age of a response.
    var limitsAge: Bool {
        guard !headers.isEmpty else { return false }
        let control = cacheControl
        return control.noCache || control.maxAge != nil || control.minFresh != nil
    }
}
