package import EideticCore

/// The parts of bodies whose downloads were interrupted, as entries besides those of the resources.
extension DiskCache {
    /// The key of the part of a resource.
    package static func partKey(of key: String) -> String { key + partSuffix }

    /// A line break cannot be in a URL, and is followed by a word in the keys of secrets and variants.
    private static let partSuffix = "\npart"

    /// Returns whether a key is that of a part.
    package static func isPart(_ key: String) -> Bool { key.hasSuffix(partSuffix) }

    /// The result of a lookup, and the part of the resource if there is no entry.
    package struct PartialLookup: Sendable {
        package let result: LookupResult
        package let part: Entry?
    }

    /// Reads an entry, or else the part of the resource, with the priority of `context`.
    package func lookUpWithPart(_ key: String, context: JobContext) async throws(EideticError) -> PartialLookup {
        try await pool.run(in: context) { _ throws(EideticError) in
            let result = try self.findEntry(for: key, allowingExpired: false)
            if case .entry = result { return PartialLookup(result: result, part: nil) }
            return PartialLookup(result: result, part: try self.findPart(of: key))
        }
    }
}
