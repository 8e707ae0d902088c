/// The reason for waking or launching an application in the background.
package struct WakeReason: Sendable, Hashable {
    package enum Kind: UInt8, Sendable, Hashable, CaseIterable {
        case fetch, push, session, processing, notification, location, voip, continued
    }

    package let kind: Kind
    /// The identifier that distinguishes the wakes of one process; completions refer to it.
    package let id: UInt64

    package init(_ kind: Kind, id: UInt64) {
        self.kind = kind
        self.id = id
    }
}
