package import EideticCore

/// Work that the user has started in the foreground, as the application describes it.
package struct ContinuedWorkMessage: Sendable, Hashable {
    package var identifier: String
    package var title: String
    package var subtitle: String
    /// A Boolean value indicating whether an earlier supervisor has accepted it.
    package var isResumed = false

    package init(identifier: String, title: String, subtitle: String) {
        (self.identifier, self.title, self.subtitle) = (identifier, title, subtitle)
    }

    /// The greatest length of the title and the subtitle in bytes.
    package static let textLimit = 1_024
}

extension ContinuedWorkMessage: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        for text in [identifier, title, subtitle] { writer.append(text) }
        writer.append(isResumed)
    }

    package init(from reader: inout WireReader) throws(WireError) {
        let identifier = try reader.identifier()
        let title = try reader.text(limit: Self.textLimit)
        self.init(identifier: identifier, title: title, subtitle: try reader.text(limit: Self.textLimit))
        isResumed = try reader.boolean()
    }
}
