#if GTK
import Eidetic
import EideticCore
import EideticFetch
import EideticStore

/// Finds the URLs of the pictures to show.
struct PictureList {
    let downloader: Downloader
    let cache: DiskCache?

    /// The URLs of all sources in their order, and whether an index could only be had from the cache.
    func urls(of sources: [String]) async throws(EideticError) -> (urls: [String], isOffline: Bool) {
        var urls: [String] = []
        var isOffline = false
        for source in sources {
            if source.hasPrefix("@") {
                urls += Self.lines(try await file(String(source.dropFirst())))
            } else if source.contains("://") {
                guard source.hasSuffix("/") else { urls.append(source); continue }
                let index = try await index(source)
                isOffline = isOffline || index.isOld
                urls += Self.links(in: index.text, of: source)
            } else {
                urls += try await directory(source)
            }
        }
        return (urls, isOffline)
    }

    // MARK: The index of a folder on a server

    /// The page that lists a folder; the one of the last time where the server cannot be asked.
    private func index(_ url: String) async throws(EideticError) -> (text: String, isOld: Bool) {
        let key = "index \(url)"
        do throws(EideticError) {
            var request = try FetchRequest(url: url)
            request.requiresImage = false
            let bytes = try await downloader.fetch(request).bytes
            try? await cache?.insert(bytes, for: key)
            return (String(decoding: bytes, as: UTF8.self), false)
        } catch {
            guard let old = try await cache?.value(for: key, allowingExpired: true) else { throw error }
            return (String(decoding: old.bytes, as: UTF8.self), true)
        }
    }

    /// What the page links to that is named like a picture.
    private static func links(in page: String, of base: String) -> [String] {
        page.split(separator: "href=\"").dropFirst().compactMap { part in
            let link = String(part.prefix { $0 != "\"" })
            guard isPicture(link), !link.contains("?") else { return nil }
            return link.contains("://") ? link : base + link
        }
    }

    // MARK: Files

    private func file(_ path: String) async throws(EideticError) -> [UInt8] {
        try await files.run { _ throws(EideticError) in
            do throws(SystemError) { return try FileSystem().contents(of: path) } catch {
                throw EideticError(.fileFailure, message: "\(path): \(error)")
            }
        }
    }

    private func directory(_ path: String) async throws(EideticError) -> [String] {
        let names = try await files.run { _ throws(EideticError) in
            do throws(SystemError) { return try FileSystem().entryNames(in: path) } catch {
                throw EideticError(.fileFailure, message: "\(path): \(error)")
            }
        }
        let root = path.hasPrefix("/") ? path : "\(currentDirectory)/\(path)"
        return names.filter(Self.isPicture).sorted().map { "file://\(root)/\($0)".encodedPath }
    }

    private let files = WorkPool(name: "gallery", maximumThreadCount: 1)

    init(downloader: Downloader, cache: DiskCache?) {
        self.downloader = downloader
        self.cache = cache
    }

    private static func lines(_ bytes: [UInt8]) -> [String] {
        String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
            .filter { !$0.isEmpty && !$0.hasPrefix("#") }
    }

    private static func isPicture(_ name: String) -> Bool {
        guard let dot = name.lastIndex(of: ".") else { return false }
        let ending = name[name.index(after: dot)...].lowercased()
        return ending == "jpeg" || ending == "tif"
            || ImageDecoder.supportedFormats.contains { $0.fileExtension == ending }
    }
}
#endif
