#if Redis
import EideticCore
import EideticStore

/// The names of keys in the server.
///
/// A name contains a digest of the key, so that it is short and reveals nothing of a URL. The digest is in braces, so
/// that in a cluster the value and the lease of a key belong to the same slot.
struct RedisKeyNames: Sendable {
    /// The version of the values' format; processes with another one share nothing.
    private static let version = DiskCache.Entry.formatVersion

    let namespace: String

    func value(for key: String) -> String {
        "\(namespace):\(Self.version):{\(Digest(sha256: Array(key.utf8)).hexadecimal)}"
    }

    func lease(of key: String) -> String { value(for: key) + ":lease" }

    /// The pattern that the names of all values match.
    var valuePattern: String {
        let escaped = namespace.map { "*?[]\\^-".contains($0) ? "\\\($0)" : String($0) }.joined()
        return "\(escaped):\(Self.version):{*}"
    }

    /// The pattern that all names match.
    var pattern: String { valuePattern + "*" }
}
#endif
