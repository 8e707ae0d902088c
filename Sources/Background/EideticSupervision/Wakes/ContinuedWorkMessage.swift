package import EideticCore

/// Work that the user has started in the foreground, as the application describes it.
package struct ContinuedWorkMessage: Sendable, Hashable {
    package var identifier: String
    package var title: String
    package var subtitle: String
    /// A Boolean value indicating whether an earlier supervisor has accepted it.
    package var isResumed = false

    /// The greatest length of the title and the subtitle in bytes.
    package static let textLimit = 1_024
}

extension ContinuedWorkMessage: WireRecord {
    package init(identifier: String, title: String, subtitle: String) {
        self.init(identifier: identifier, title: title, subtitle: subtitle, isResumed: false)
    }

    package static let layout = Layout(
        Self.init,
        Field(\.identifier, .identifier),
        Field(\.title, .text(limit: textLimit)),
        Field(\.subtitle, .text(limit: textLimit)),
        Field(\.isResumed)
    )
}
