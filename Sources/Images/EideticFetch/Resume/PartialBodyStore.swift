import EideticCore
import EideticHTTP
import Glibc

/// Partial bodies on disk, with which a download resumes the download of an earlier process.
///
/// A file consists of text lines, an empty line and the body. The lines have the URL, the checksum of what follows it,
/// and the header fields; a file that does not match is a miss. Each insertion removes files that have expired, and the
/// oldest files above the size limit. All functions block.
struct PartialBodyStore: Sendable {
    let directory: String
    let sizeLimit: Int
    let lifetime: Duration
    let fileSystem: FileSystem
    let time: any TimeSource
    private let directoryKey: DirectoryKey

    /// Creates a store; `nil` if the configuration has no directory.
    init?(_ configuration: Downloader.Configuration) {
        guard let directory = configuration.partialDirectory else { return nil }
        self.directory = directory
        sizeLimit = configuration.partialSizeLimit.bytes
        lifetime = configuration.partialLifetime
        fileSystem = configuration.fileSystem
        time = configuration.time
        directoryKey = DirectoryKey(directory: directory, files: fileSystem)
    }

    /// The time after which a temporary file is assumed to be that of a killed process.
    private static let maximumWriteTime: Duration = .seconds(60)
    private static let magic = "eidetic-partial 2"
    private static let fileExtension = ".partial"

    func insert(_ partialBody: PartialBody, for request: FetchRequest) throws(EideticError) {
        do throws(SystemError) { try write(partialBody, for: request) } catch { throw EideticError(error) }
    }

    private func write(_ partialBody: PartialBody, for request: FetchRequest) throws(SystemError) {
        guard partialBody.bytes.count <= sizeLimit else { return }
        try fileSystem.makeDirectories(directory)
        try checkTrust()
        let path = path(of: request, key: try directoryKey.forWriting())
        try makeRoom(for: partialBody.bytes.count)
        let fields = partialBody.headers.fields.map { "\($0.name): \($0.value)" }
        let head = ["\(partialBody.target)"] + fields + ["", ""]
        let content = Array(head.joined(separator: "\n").utf8) + partialBody.bytes
        let checksum = content.withUnsafeBytes { Checksum.value(of: $0) }
        let file = Array("\(Self.magic)\n\(request.url)\n\(checksum)\n".utf8) + content
        try fileSystem.replaceContents(of: path, with: file, mode: 0o600)
    }

    func remove(for request: FetchRequest) -> PartialBody? {
        let path = path(of: request, key: directoryKey.forReading())
        guard (try? checkTrust()) != nil, let status = try? fileSystem.status(of: path),
            status.size <= sizeLimit + 131_072
        else { return nil }
        defer { try? fileSystem.unlink(path) }
        guard time.now - status.modificationTime <= lifetime, let file = try? fileSystem.contents(of: path) else {
            return nil
        }
        return Self.decode(file, url: request.url)
    }

    private static func decode(_ file: [UInt8], url: String) -> PartialBody? {
        let parts = file.split(separator: 10, maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0].elementsEqual(magic.utf8), parts[1].elementsEqual(url.utf8),
            parts[2].elementsEqual("\(parts[3].withUnsafeBytes { Checksum.value(of: $0) })".utf8)
        else { return nil }
        let start = parts[3].startIndex
        let end = (start..<max(start, parts[3].endIndex - 1)).first { file[$0] == 10 && file[$0 + 1] == 10 }
        guard let end else { return nil }
        let lines = file[start..<end].split(separator: 10).map { String(decoding: $0, as: UTF8.self) }
        guard let target = lines.first.flatMap({ UInt64($0) }) else { return nil }
        var headers = HTTPHeaders()
        for line in lines.dropFirst() {
            guard let (name, rest) = line.divided(at: UInt8(ascii: ":")), let value = rest.rest(behind: " ") else {
                return nil
            }
            headers.add(String(value), for: String(name))
        }
        let bytes = Array(file[(end + 2)...])
        let exactTarget = PartialBody.exactTarget(of: url)
        return PartialBody(bytes: bytes, headers: headers, target: target, exactTarget: exactTarget)
    }

    /// Throws if other users could change the directory.
    private func checkTrust() throws(SystemError) {
        guard let violation = try DirectoryTrust(files: fileSystem).violation(in: directory) else { return }
        throw SystemError(.lstat, errorNumber: EPERM, path: directory, violation: violation)
    }

    /// Returns the path for a request.
    ///
    /// It depends on the whole request, so that users do not share partial bodies, and on the directory's key, so that
    /// credentials cannot be found from it.
    private func path(of request: FetchRequest, key: [UInt8]) -> String {
        let name = Digest(hmacSHA256: Array(request.identityText.utf8), key: key).hexadecimal
        return "\(directory)/\(name)\(Self.fileExtension)"
    }

    private func makeRoom(for size: Int) throws(SystemError) {
        var storedFiles: [(path: String, size: Int, modified: Timestamp)] = []
        for name in try fileSystem.entryNames(in: directory) where name.contains(Self.fileExtension) {
            let path = "\(directory)/\(name)"
            guard let status = try? fileSystem.status(of: path) else { continue }
            let age = time.now - status.modificationTime
            // A file with another suffix is temporary: it is being written, or its writer was killed.
            if age > lifetime || !name.hasSuffix(Self.fileExtension) && age > Self.maximumWriteTime {
                try? fileSystem.unlink(path)
            } else {
                storedFiles.append((path, status.size, status.modificationTime))
            }
        }
        var total = storedFiles.reduce(size) { $0 + $1.size }
        for file in storedFiles.sorted(by: { $0.modified < $1.modified }) where total > sizeLimit {
            try? fileSystem.unlink(file.path)
            total -= file.size
        }
    }
}

extension FetchRequest {
    /// The properties that the response depends on, as text.
    var identityText: String {
        let fields = headers.canonicalFields.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        let credentialsText = credentials.map { "\($0)" } ?? "-"
        return ([url, "\(credentialsText) \(usesCookies) \(allowsInvalidCertificates)"] + fields).joined(
            separator: "\n"
        )
    }
}
