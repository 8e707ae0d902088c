/// Paths are bytes: a slash before a combining mark ends a directory, while a `Character` has both of them.
extension StringProtocol where UTF8View: BidirectionalCollection {
    /// The index of the last slash; `nil` without one.
    package var lastSlash: Index? { utf8.lastIndex(of: UInt8(ascii: "/")) }

    /// The text before the last slash, empty for a file of the root; `nil` without a slash.
    package var parentPath: String? { lastSlash.map { String(self[..<$0]) } }

    /// The text after the last slash.
    package var fileName: SubSequence { lastSlash.map { self[utf8.index(after: $0)...] } ?? self[...] }

    /// The parts of a path or a URL between its slashes, empty ones included.
    package var pathParts: [SubSequence] {
        utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map {
            self[$0.startIndex..<$0.endIndex]
        }
    }
}
