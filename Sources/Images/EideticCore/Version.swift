/// The version of Eidetic.
package enum Version {
    /// `MAJOR.MINOR.PATCH`, by the rules of semantic versioning.
    package static let current = "0.1.0"
}
