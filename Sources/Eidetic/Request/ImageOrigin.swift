public import EideticCore
public import EideticFetch
import FoundationEssentials

/// Where the bytes of a picture come from.
public enum ImageResource: Sendable {
    /// A server. The original is kept in the disk cache.
    case remote(FetchRequest)

    /// Several servers' URLs of one picture, best first; the next one is asked when one fails or sends a broken picture.
    ///
    /// The picture has the identity of the first.
    case firstOf([FetchRequest])

    /// Several files of one picture in different sizes.
    ///
    /// The smallest that has all pixels of the wanted size is loaded, and one step less where the host's measured speed
    /// would make that take too long (`ImagePipeline.Configuration.variantWait`). A larger one that a cache has is taken
    /// before; the others stand in where one fails. Each has an identity of its own.
    case candidates([ImageCandidate])

    /// A file of this machine. It is not copied into the disk cache.
    case file(LocalFile)

    /// Bytes that are there already, as those of a `data:` URL. Not copied into the disk cache.
    case bytes([UInt8])

    /// A function of the caller's that makes the bytes; equal names mean equal bytes. Kept in the disk cache.
    case provider(name: String, @Sendable () async throws(EideticError) -> [UInt8])

    /// Reads a URL: `http`, `https`, `file` or `data`; throws `invalidURL` for all else.
    public init(url: String) throws(EideticError) {
        let scheme = url.prefix { $0 != ":" }.lowercased()
        switch scheme {
        case "file": self = .file(try LocalFile(url: url))
        case "data": self = .bytes(try DataURL(url).bytes)
        default: self = .remote(try FetchRequest(url: url))
        }
    }

    /// A name for messages.
    var name: String {
        switch self {
        case .remote(let request): request.url
        case .firstOf(let requests): requests.first?.url ?? "no URL"
        case .candidates(let variants): variants.first?.request.url ?? "no URL"
        case .file(let file): file.path
        case .bytes(let bytes): "\(bytes.count) bytes"
        case .provider(let name, _): name
        }
    }

    /// The requests of which one will bring the bytes; none where no server is asked.
    var remotes: [FetchRequest] {
        switch self {
        case .remote(let request): [request]
        case .firstOf(let requests): requests
        case .candidates(let variants): variants.map(\.request)
        case .file, .bytes, .provider: []
        }
    }

    /// Whether one of ``remotes`` is such; allocates nothing.
    func hasRemote(_ condition: (FetchRequest) -> Bool) -> Bool {
        switch self {
        case .remote(let request): condition(request)
        case .firstOf(let requests): requests.contains(where: condition)
        case .candidates(let variants): variants.contains { condition($0.request) }
        case .file, .bytes, .provider: false
        }
    }

    /// Whether the original belongs into the disk cache.
    var isStoredOnDisk: Bool {
        switch self {
        case .remote, .firstOf, .candidates, .provider: true
        case .file, .bytes: false
        }
    }
}

extension ImageResource {
    /// The identity of the bytes, without the query items that `ignored` names.
    func identity(ignoringQueryItems ignored: Set<String>) -> String {
        switch self {
        case .remote(let request): Self.identity(of: request, ignoringQueryItems: ignored)
        case .firstOf(let requests): requests.first.map { Self.identity(of: $0, ignoringQueryItems: ignored) } ?? ""
        case .candidates(let variants):
            variants.map { Self.identity(of: $0.request, ignoringQueryItems: ignored) }.joined(separator: "\n")
        case .file(let file): "file:\(file.path)\n\(file.version)"
        case .bytes(let bytes): "data:\(bytes.withUnsafeBytes { CacheKey(hashing: $0) }.hexadecimal)"
        case .provider(let name, _): "provider:\(name)"
        }
    }

    /// What keeps bytes apart from those of the same URL that were asked for in another way.
    ///
    /// Anybody may have tampered with what came with any certificate, and cookies tell users apart.
    func identitySuffix(for options: ImageOptions) -> String {
        let isUnsafe = hasRemote { options.contains(.allowInvalidCertificates) || $0.allowsInvalidCertificates }
        let hasCookies = hasRemote { options.contains(.handleCookies) || $0.usesCookies }
        return (isUnsafe ? "\nany certificate" : "") + (hasCookies ? "\nwith cookies" : "")
    }

    /// Two users with different headers or passwords never share a picture, so all that the caller set is part of it.
    ///
    /// It is hashed, because the identity is written to disk, where no secret belongs.
    private static func identity(of request: FetchRequest, ignoringQueryItems ignored: Set<String>) -> String {
        let url = ignored.isEmpty ? request.url : SignedURL.removingQueryItems(ignored, from: request.url)
        guard !request.headers.isEmpty || request.credentials != nil else { return url }
        let fields = request.headers.fields.map { "\($0.name.lowercased()): \($0.value)" }.sorted()
        let secret = fields.joined(separator: "\n") + (request.credentials.map { "\n\($0)" } ?? "")
        return "\(url)\n\(CacheKey(secret).hexadecimal)"
    }
}
