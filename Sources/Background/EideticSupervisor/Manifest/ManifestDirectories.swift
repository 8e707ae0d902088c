import EideticCore
import Glibc

/// The directories of desktop entries, of which the first one that has a file counts.
package struct ManifestDirectories: Sendable, Hashable {
    package let paths: [String]
    /// The files that name the preferred applications for schemes.
    private let preferences: [String]

    /// Creates a list of directories.
    ///
    /// - Parameters:
    ///   - paths: The directories, the preferred one first.
    ///   - preferences: The files `mimeapps.list`, the preferred one first.
    package init(paths: [String], preferences: [String] = []) {
        self.paths = paths
        self.preferences = preferences
    }

    /// The directories that the environment names, after those that are given.
    ///
    /// - SeeAlso: XDG Base Directory Specification, and Association between MIME types and applications 1.0.1.
    package init(environmentAnd given: [String] = []) {
        let home = Self.paths(in: "HOME").first ?? "/"
        let data =
            Self.paths(in: "XDG_DATA_HOME", or: ["\(home)/.local/share"]).prefix(1)
            + Self.paths(in: "XDG_DATA_DIRS", or: ["/usr/local/share", "/usr/share"])
        let settings =
            Self.paths(in: "XDG_CONFIG_HOME", or: ["\(home)/.config"]).prefix(1)
            + Self.paths(in: "XDG_CONFIG_DIRS", or: ["/etc/xdg"])
        paths = given + data.map { "\($0)/applications" }
        preferences = (settings + paths).map { "\($0)/mimeapps.list" }
    }

    private static func paths(in variable: String, or standard: [String] = []) -> [String] {
        let given = getenv(variable).map { String(cString: $0) } ?? ""
        let paths = given.split(separator: ":").filter { $0.hasPrefix("/") }.map(String.init)
        return paths.isEmpty ? standard : paths
    }

    /// The outcome of a search.
    package enum Lookup: Sendable, Hashable {
        /// There is no desktop entry with a key of Eidetic.
        case none
        case found(Manifest)
        case invalid(path: String, ManifestError)

        /// The manifest, if there is a valid one.
        package var manifest: Manifest? { if case .found(let manifest) = self { manifest } else { nil } }
    }

    package func manifest(of identifier: String) -> Lookup {
        guard ApplicationIdentifier.isValid(identifier) else { return .none }
        for directory in paths {
            let path = "\(directory)/\(identifier).desktop"
            if let bytes = Self.contents(of: path) {
                return Self.manifest(in: bytes, identifier: identifier, path: path)
            }
        }
        return .none
    }

    /// Returns the path of the desktop entry of an application that declares nothing for the supervisor; `nil` if there
    /// is none.
    package func undeclaredEntry(of identifier: String) -> String? {
        guard ApplicationIdentifier.isValid(identifier) else { return nil }
        return paths.map { "\($0)/\(identifier).desktop" }.first { path in
            Self.contents(of: path).map { !$0.containsText(Manifest.keyPrefix) } ?? false
        }
    }

    /// The identifiers of all applications with a valid manifest, in the order of the alphabet; reads every entry.
    package var identifiers: [String] { entries { $0.containsText(Manifest.keyPrefix) }.map(\.identifier).sorted() }

    /// Returns the application that opens the URLs of a scheme: the preferred or else the first one; reads every entry.
    package func manifest(forScheme scheme: String) -> Lookup {
        let scheme = scheme.lowercased()
        let key = "x-scheme-handler/\(scheme)"
        for path in preferences {
            for name in preferredNames(for: key, in: path) {
                guard let manifest = manifest(of: name).manifest, manifest.schemes.contains(scheme) else { continue }
                return .found(manifest)
            }
        }
        let handlers = entries { $0.containsText(Manifest.keyPrefix) && $0.containsText("x-scheme-handler/") }
        return handlers.first { $0.schemes.contains(scheme) }.map { .found($0) } ?? .none
    }

    /// Returns the valid manifests whose bytes meet a condition; a file hides those of the same name behind it.
    private func entries(where isCandidate: ([UInt8]) -> Bool) -> [Manifest] {
        var found: [Manifest] = []
        var seen: Set<String> = []
        for directory in paths {
            for file in KernelFile.names(in: directory).sorted() where file.hasSuffix(".desktop") {
                let identifier = String(file.dropLast(8))
                let path = "\(directory)/\(file)"
                guard ApplicationIdentifier.isValid(identifier), seen.insert(identifier).inserted,
                    let bytes = Self.contents(of: path), isCandidate(bytes)
                else { continue }
                let lookup = Self.manifest(in: bytes, identifier: identifier, path: path)
                if let manifest = lookup.manifest { found.append(manifest) }
            }
        }
        return found
    }

    private func preferredNames(for key: String, in path: String) -> [String] {
        guard let bytes = Self.contents(of: path),
            let entry = try? DesktopEntry(parsing: bytes, group: "Default Applications"),
            let names = try? entry.list(of: key)
        else { return [] }
        return names.filter { $0.hasSuffix(".desktop") }.map { String($0.dropLast(8)) }
    }

    private static func manifest(in bytes: [UInt8], identifier: String, path: String) -> Lookup {
        guard bytes.containsText(Manifest.keyPrefix) else { return .none }
        do throws(ManifestError) {
            let entry = try DesktopEntry(parsing: bytes)
            guard entry.keys.contains(where: { $0.hasPrefix(Manifest.keyPrefix) }) else { return .none }
            if try entry.boolean(of: "Hidden") == true { return .none }
            return .found(try Manifest(parsing: bytes, identifier: identifier, path: path))
        } catch {
            return .invalid(path: path, error)
        }
    }

    /// Reads a regular file, which may be the target of a symbolic link; `nil` if there is none.
    private static func contents(of path: String) -> [UInt8]? {
        let files = FileSystem()
        guard let file = try? files.open(path, flags: O_RDONLY | O_NONBLOCK),
            (try? files.status(of: file).kind) == .regular
        else { return nil }
        // One byte more than the limit, which is then refused.
        return KernelFile.bytes(of: file.rawValue, limit: DesktopEntry.sizeLimit + 1)
    }
}

extension [UInt8] {
    /// Returns whether the bytes contain those of a text.
    fileprivate func containsText(_ text: String) -> Bool {
        // What follows a zero byte is not looked at: a desktop entry has none.
        (self + [0]).withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self) else { return false }
            return text.withCString { strstr(start, $0) != nil }
        }
    }
}
