/// The version of Eidetic.
package enum Version {
    /// `MAJOR.MINOR.PATCH`, by the rules of semantic versioning.
    ///
    /// This is the only place that states it: packages, manual pages and requests take it from here.
    package static let current = "0.1.0"
}
