import EideticCore
import Glibc

/// Beginnings of bodies on disk, so that a download goes on where an earlier process stopped.
///
/// A file each: a text head, an empty line, the body. The head names the URL and the checksum of the body; a file that
/// does not agree is no longer there. Files that are too old, or the oldest of too many bytes, go whenever one is written.
/// Everything here blocks.
struct PartialStore: Sendable {
    let directory: String
    let sizeLimit: Int
    let maximumAge: Duration
    let files: FileSystem
    let time: any TimeSource

    /// `nil` where the configuration names no directory.
    init?(_ configuration: Downloader.Configuration) {
        guard let directory = configuration.partialDirectory else { return nil }
        self.directory = directory
        sizeLimit = configuration.partialLimit.bytes
        maximumAge = configuration.partialAge
        files = configuration.fileSystem
        time = configuration.time
    }

    /// Below this a body is fetched again sooner than a file is written and read.
    static let smallest = 65_536
    private static let longestWrite: Duration = .seconds(60)
    private static let magic = "eidetic-partial 1"
    private static let ending = ".partial"

    /// Keeps the beginning of what `request` names.
    func write(_ partial: PartialBody, for request: FetchRequest) throws(SystemError) {
        guard partial.bytes.count >= Self.smallest, partial.bytes.count <= sizeLimit else { return }
        try files.makeDirectories(directory)
        try makeRoom(for: partial.bytes.count)
        let checksum = partial.bytes.withUnsafeBytes { Checksum.of($0) }
        let lines = [
            Self.magic, request.url, partial.validator, partial.total.map(String.init) ?? "-", "\(checksum)", "", "",
        ]
        let file = Array(lines.joined(separator: "\n").utf8) + partial.bytes
        let path = path(of: request)
        try file.withUnsafeBufferPointer { bytes throws(SystemError) in
            try files.replaceContents(of: path, with: UnsafeRawBufferPointer(bytes), mode: 0o600)
        }
    }

    /// Takes what was kept for `request`; the file is gone afterwards.
    func take(_ request: FetchRequest) -> PartialBody? {
        let path = path(of: request)
        guard let status = try? files.status(of: path), status.size <= sizeLimit + 131_072 else { return nil }
        defer { try? files.unlink(path) }
        guard time.now - status.modified <= maximumAge, let file = try? files.contents(of: path) else { return nil }
        return Self.read(file, url: request.url)
    }

    private static func read(_ file: [UInt8], url: String) -> PartialBody? {
        let head = file.prefix(131_072).split(separator: 10, maxSplits: 6, omittingEmptySubsequences: false)
        guard head.count == 7, head[5].isEmpty else { return nil }
        let lines = head[..<5].map { String(decoding: $0, as: UTF8.self) }
        let body = Array(file[head[6].startIndex...])
        guard lines[0] == magic, lines[1] == url, lines[4] == "\(body.withUnsafeBytes { Checksum.of($0) })",
            !lines[2].breaksLine
        else { return nil }
        return PartialBody(bytes: body, validator: lines[2], total: Int(lines[3]))
    }

    /// The whole request is the identity: what one user was sent is not continued for another.
    private func path(of request: FetchRequest) -> String {
        "\(directory)/\(CacheKey(request.identityText).hexadecimal)\(Self.ending)"
    }

    private func makeRoom(for size: Int) throws(SystemError) {
        var kept: [(path: String, size: Int, modified: Timestamp)] = []
        for name in try files.names(in: directory) where name.contains(Self.ending) {
            let path = "\(directory)/\(name)"
            guard let status = try? files.status(of: path) else { continue }
            let age = time.now - status.modified
            // A file under another name is being written, or its writer was killed.
            if age > maximumAge || !name.hasSuffix(Self.ending) && age > Self.longestWrite {
                try? files.unlink(path)
            } else {
                kept.append((path, status.size, status.modified))
            }
        }
        var total = kept.reduce(size) { $0 + $1.size }
        for file in kept.sorted(by: { $0.modified < $1.modified }) where total > sizeLimit {
            try? files.unlink(file.path)
            total -= file.size
        }
    }
}

extension FetchRequest {
    /// What makes the answer differ, as one text.
    var identityText: String {
        let fields = headers.canonical.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        let who = credentials.map { "\($0)" } ?? "-"
        return ([url, "\(who) \(usesCookies) \(allowsInvalidCertificates)"] + fields).joined(separator: "\n")
    }
}
