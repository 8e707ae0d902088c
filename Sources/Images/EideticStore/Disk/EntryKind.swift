/// A distinction between encoded originals and bytes that can be computed again.
package enum EntryKind: UInt8, Sendable, Hashable, CaseIterable {
    /// The bytes as their origin sent them.
    case original
    /// Bytes computed from an original, for example a smaller rendition; evicted before originals.
    case derived
}

/// The value of an entry to the user, which decides how long it resists eviction.
package enum EntryImportance: UInt8, Sendable, Hashable, CaseIterable, Comparable {
    /// Prefetched and not yet read; a read changes it to `viewed`.
    case prefetched
    /// Loaded for display.
    case viewed
    /// Stored on the user's request; evicted only when no other entry is left.
    case user

    /// Returns `true` if an entry of the first importance is evicted before one of the second.
    package static func < (left: EntryImportance, right: EntryImportance) -> Bool { left.rawValue < right.rawValue }
}
