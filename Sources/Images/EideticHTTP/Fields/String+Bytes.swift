extension String {
    /// Returns a Boolean value indicating whether two texts have the same bytes.
    ///
    /// `==` compares texts by canonical equivalence, so that "é" as one character equals "e" with an accent. To a
    /// server they are different, and so are the users whose names or tokens they are.
    package func hasSameBytes(as other: String) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
    }
}

extension Optional<String> {
    /// Returns a Boolean value indicating whether two texts have the same bytes, or both are missing.
    package func hasSameBytes(as other: String?) -> Bool {
        guard let self, let other else { return self == nil && other == nil }
        return self.hasSameBytes(as: other)
    }
}
