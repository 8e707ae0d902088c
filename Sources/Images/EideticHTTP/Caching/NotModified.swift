/// The rules by which a 304 (Not Modified) response freshens a stored response.
///
/// - SeeAlso: RFC 9111, sections 3.2 and 4.3.4.
package enum NotModified {
    /// Fields that describe the stored body, and so are not updated.
    private static let representationFields: Set = [
        "content-encoding", "content-length", "content-range", "content-type",
    ]

    /// Returns `true` if a 304 response with these fields confirms the stored response.
    ///
    /// Its entity tag, or else its last modification date, must be that of the stored response. A 304 response with
    /// neither confirms the one response whose validators were sent. Entity tags are compared weakly, because servers
    /// that compress on the fly send a weak tag with the body and a strong one with the 304 response.
    package static func confirms(_ response: [HTTPField], stored: [HTTPField]) -> Bool {
        if let tag = response.values(of: "etag").first.map({ EntityTag($0) }) {
            return stored.values(of: "etag").contains { tag.weaklyMatches(EntityTag($0)) }
        }
        guard let date = Validators(response).lastModified, let storedDate = Validators(stored).lastModified else {
            return true
        }
        if storedDate.hasSameBytes(as: date) { return true }
        guard let time = HTTPDate.parse(date) else { return false }
        return time == HTTPDate.parse(storedDate)
    }

    /// Returns the stored header fields, updated from a 304 response: its fields replace those of the same name.
    ///
    /// Fields of the connection, and those that describe the stored body, are not updated. A stored `Age` and a stored
    /// `Date` are always removed: a 304 response without them is a fresh response of the origin, and counts from its
    /// arrival.
    package static func merge(_ response: [HTTPField], into stored: [HTTPField]) -> [HTTPField] {
        let updatedFields = Storability.storableFields(of: response)
            .filter { !representationFields.contains($0.name.lowercasedASCII) }
        let replacedNames = Set(updatedFields.map(\.name.lowercasedASCII) + ["age", "date"])
        return stored.filter { !replacedNames.contains($0.name.lowercasedASCII) } + updatedFields
    }
}

extension ResponseFreshness.Response {
    /// Returns this stored response as a confirmation has updated it.
    ///
    /// - Parameters:
    ///   - confirmation: The 304 response, whose times count from now on.
    ///   - fields: The fields of the confirmation that are stored.
    /// - Returns: The response with its own status.
    package func confirmed(
        by confirmation: ResponseFreshness.Response,
        fields: [HTTPField]
    ) -> ResponseFreshness.Response {
        ResponseFreshness.Response(
            status: status,
            fields: NotModified.merge(fields, into: self.fields),
            requestTime: confirmation.requestTime,
            responseTime: confirmation.responseTime
        )
    }
}
