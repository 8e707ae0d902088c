/// The rules by which a 304 (Not Modified) response freshens a stored response.
///
/// - SeeAlso: RFC 9111, sections 3.2 and 4.3.4.
public enum NotModified {
    /// Fields that describe the stored body, and so are not updated.
    private static let representationFields = ["content-encoding", "content-length", "content-range", "content-type"]

    /// Returns `true` if a 304 response with these fields selects the stored response for update.
    ///
    /// Its entity tag, or else its last modification date, must be that of the stored response. A 304 response with
    /// neither always matches. Entity tags are compared weakly, because servers that compress on the fly send a weak
    /// tag with the body and a strong one with the 304 response.
    public static func matches(_ response: [HTTPField], stored: [HTTPField]) -> Bool {
        let (validators, storedValidators) = (Validators(response), Validators(stored))
        if let tag = validators.entityTag {
            guard let storedTag = storedValidators.entityTag else { return false }
            return tag.weaklyMatches(storedTag)
        }
        guard let lastModified = validators.lastModified, let storedDate = storedValidators.lastModified else {
            return true
        }
        return storedDate == lastModified
    }

    /// Returns the stored header fields, updated from a 304 response: its fields replace those of the same name.
    ///
    /// Fields of the connection, and those that describe the stored body, are not updated. A stored `Age` is always
    /// removed: a 304 response without the field is a fresh response of the origin.
    public static func merge(_ response: [HTTPField], into stored: [HTTPField]) -> [HTTPField] {
        let retainedNames = Set(representationFields)
        let updatedFields = Storability.storableFields(of: response)
            .filter { !retainedNames.contains($0.name.lowercasedASCII) }
        var replacedNames = Set(updatedFields.map(\.name.lowercasedASCII))
        replacedNames.insert("age")
        return stored.filter { !replacedNames.contains($0.name.lowercasedASCII) } + updatedFields
    }
}
