import EideticCodecs
package import EideticCore

/// The memory that a decode needs in its process, in bytes.
package struct DecodeMemory: Sendable, Hashable {
    package let working: Int
    /// The memory that a decoder of previews keeps from one preview to the next; 0 for a whole image.
    package let kept: Int

    package init(working: Int, kept: Int) {
        self.working = working
        self.kept = kept
    }

    init(_ session: DecodeSession, isPreview: Bool) {
        self.init(working: session.workingMemory, kept: isPreview ? session.feedMemory : 0)
    }
}

extension DecodeMemory: WireRecord {
    package static let layout = Layout(Self.init, Field(\.working, .number()), Field(\.kept, .number()))
}
