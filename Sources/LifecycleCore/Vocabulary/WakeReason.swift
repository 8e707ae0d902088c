/// The reason for waking or launching an application in the background.
package struct WakeReason: Sendable, Hashable {
    package enum Kind: UInt8, Sendable, Hashable, CaseIterable {
        case fetch, push, session, processing, notification, location, voip, continued
    }

    package let kind: Kind
    /// The identifier that distinguishes the wakes of one process; completions refer to it.
    package let id: UInt64
    /// The identifier of the background session whose events wait; empty for other kinds.
    package let session: String

    package init(_ kind: Kind, id: UInt64, session: String = "") {
        (self.kind, self.id, self.session) = (kind, id, session)
    }
}
