/// The version of Eidetic.
public enum Version {
    /// `MAJOR.MINOR.PATCH`, by the rules of semantic versioning.
    public static let current = "0.1.0"
}
