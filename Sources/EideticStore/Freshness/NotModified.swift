/// What the answer 304 means for a stored response.
///
/// - SeeAlso: RFC 9111, sections 3.2 and 4.3.4.
public enum NotModified {
    /// Fields that say how the stored body is to be read, and so belong to it, not to the answer.
    private static let representationFields = ["content-encoding", "content-length", "content-range", "content-type"]

    /// Whether a 304 with these fields is about the stored response.
    ///
    /// Its entity tag, or else its date of change, must be that of the stored response; one without either is about
    /// what was asked for. Tags are compared weakly: servers that compress on the way give a weak tag with the body and
    /// a strong one with the 304.
    public static func matches(_ answer: [HTTPField], stored: [HTTPField]) -> Bool {
        let (validators, storedValidators) = (Validators(answer), Validators(stored))
        if let tag = validators.entityTag {
            guard let storedTag = storedValidators.entityTag else { return false }
            return tag.weaklyMatches(storedTag)
        }
        if let lastModified = validators.lastModified {
            return storedValidators.lastModified == nil || storedValidators.lastModified == lastModified
        }
        return true
    }

    /// The stored head, brought up to date by a 304: each field of the answer takes the place of those of its name.
    ///
    /// Fields that concern one connection, or that say how the stored body is to be read, are left as they are. The
    /// `Age` of an answer without one is that of a fresh answer, so a stored one goes.
    public static func merge(_ answer: [HTTPField], into stored: [HTTPField]) -> [HTTPField] {
        let retainedNames = Set(representationFields)
        let updatedFields = Storability.storableFields(of: answer).filter {
            !retainedNames.contains($0.name.lowercasedASCII)
        }
        var replacedNames = Set(updatedFields.map(\.name.lowercasedASCII))
        replacedNames.insert("age")
        return stored.filter { !replacedNames.contains($0.name.lowercasedASCII) } + updatedFields
    }
}
