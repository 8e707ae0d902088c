/// The keys of a cache's entries.
package enum EntryKey {
    /// Returns `true` if a text can be a key: 1 to 65,536 bytes.
    static func isValid(_ text: String) -> Bool { (1...EntryFile.keySizeLimit).contains(text.utf8.count) }

    /// Returns the key of the part of a body whose download was interrupted, an entry besides that of the resource.
    ///
    /// A line break cannot be in a URL, and is followed by a word in the keys of secrets and variants.
    package static func part(of key: String) -> String { key + partSuffix }

    /// Returns `true` if a key is that of a part.
    package static func isPart(_ key: String) -> Bool { key.utf8.reversed().starts(with: partSuffix.utf8.reversed()) }

    private static let partSuffix = "\npart"
}
