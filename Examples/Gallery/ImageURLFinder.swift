#if GTK
import Dispatch
import Eidetic
import EideticCodecs
import EideticCore
import EideticFetch
import EideticStore

/// A search for the URLs of the images to show.
struct ImageURLFinder {
    let downloader: Downloader
    let cache: DiskCache?

    /// Returns the URLs of all sources in their order.
    ///
    /// - Returns: The URLs, and a Boolean value indicating whether an index was available from the cache only.
    func urls(of sources: [String]) async throws(EideticError) -> (urls: [String], isOffline: Bool) {
        var urls: [String] = []
        var isOffline = false
        for source in sources {
            if source.hasPrefix("@") {
                urls += Self.lines(in: try await contents(of: String(source.dropFirst())))
            } else if source.contains("://") {
                guard source.hasSuffix("/") else { urls.append(source); continue }
                let index = try await index(at: source)
                isOffline = isOffline || index.isCached
                urls += Self.links(in: index.text, of: source)
            } else {
                urls += try await imageURLs(inDirectory: source)
            }
        }
        return (urls, isOffline)
    }

    // MARK: Directory on a server

    /// Returns the page that lists a directory; the cached one if the server is unreachable.
    private func index(at url: String) async throws(EideticError) -> (text: String, isCached: Bool) {
        let key = "index \(url)"
        do throws(EideticError) {
            var request = FetchRequest(url)
            request.requiresImage = false
            let bytes = try await downloader.fetch(request).bytes
            try? await cache?.insert(bytes, for: key)
            return (String(decoding: bytes, as: UTF8.self), false)
        } catch {
            guard let cached = try await cache?.read(key, allowingExpired: true) else { throw error }
            return (String(decoding: cached.bytes, as: UTF8.self), true)
        }
    }

    /// Returns the links of a page to files with the name of an image.
    private static func links(in page: String, of base: String) -> [String] {
        page.split(separator: "href=\"").dropFirst().compactMap { part in
            let link = String(part.prefix { $0 != "\"" })
            guard isImageName(link), !link.contains("?") else { return nil }
            return link.contains("://") ? link : base + link
        }
    }

    // MARK: Files

    private func contents(of path: String) async throws(EideticError) -> [UInt8] {
        try await Self.onThread { () throws(EideticError) in try readFile(path) }
    }

    private func imageURLs(inDirectory path: String) async throws(EideticError) -> [String] {
        let names = try await Self.onThread { () throws(EideticError) in try fileNames(in: path) }
        let root = path.hasPrefix("/") ? path : "\(currentDirectory)/\(path)"
        return names.filter(Self.isImageName).sorted().map { "file://\(root)/\($0)".encodedPath }
    }

    private static let files = DispatchQueue(label: "files")

    /// Runs a function that blocks on a thread of its own: Swift's threads are as many as processors.
    private static func onThread<Value: Sendable>(
        _ body: @escaping @Sendable () throws(EideticError) -> Value
    ) async throws(EideticError) -> Value {
        let result = await withCheckedContinuation { continuation in
            files.async { continuation.resume(returning: Result(catching: body)) }
        }
        return try result.get()
    }

    init(downloader: Downloader, cache: DiskCache?) {
        self.downloader = downloader
        self.cache = cache
    }

    private static func lines(in bytes: [UInt8]) -> [String] {
        String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
            .filter { !$0.isEmpty && !$0.hasPrefix("#") }
    }

    private static func isImageName(_ name: String) -> Bool {
        guard let dot = name.lastIndex(of: ".") else { return false }
        let fileExtension = name[name.index(after: dot)...].lowercased()
        return fileExtension == "jpeg" || fileExtension == "tif"
            || ImageDecoder.supportedFormats.contains { $0.fileExtension == fileExtension }
    }
}
#endif
