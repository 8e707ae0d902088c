import CNettle
import CXXHash

/// The version of Eidetic.
package enum Version {
    /// `MAJOR.MINOR.PATCH`, by the rules of semantic versioning.
    ///
    /// This is the only place that states it: packages, manual pages and requests take it from here.
    package static let current = "0.1.0"
}

/// The version of a C library in this process.
package struct LibraryVersion: Sendable {
    package let name: String
    /// The version; `nil` for an optional library that cannot be loaded.
    package let version: String?

    package init(_ name: String, version: String?) { (self.name, self.version) = (name, version) }

    /// Creates the version of a library that counts its versions: 2'001'005 for 2.1.5 with a base of 1'000.
    package init(_ name: String, number: Int, base: Int, parts: Int = 3) {
        var (rest, numbers) = (number, [String]())
        for _ in 1..<parts {
            numbers.append(String(rest % base))
            rest /= base
        }
        self.init(name, version: number == 0 ? nil : (numbers + [String(rest)]).reversed().joined(separator: "."))
    }

    package static var core: [LibraryVersion] {
        [
            LibraryVersion("Nettle", number: Int(eidetic_nettle_version()), base: 100, parts: 2),
            LibraryVersion("xxHash", number: Int(XXH_versionNumber()), base: 100),
        ]
    }
}
