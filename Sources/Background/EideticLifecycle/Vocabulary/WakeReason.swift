/// The reason for waking or launching an application in the background.
package struct WakeReason: Sendable, Hashable {
    package enum Kind: UInt8, Sendable, Hashable, CaseIterable {
        case fetch, push, session, processing, notification, location, voip
    }

    package let kind: Kind
    /// The identifier that distinguishes the wakes of one process; completions refer to it.
    package let id: UInt64
    /// The identifier of the background session whose events wait, or of the request for background time; empty for
    /// other kinds.
    package let session: String
    /// The message, location or data that the wake brings, at most ``payloadLimit`` bytes; empty for other kinds.
    package let payload: [UInt8]

    package init(_ kind: Kind, id: UInt64, session: String = "", payload: [UInt8] = []) {
        self.kind = kind
        self.id = id
        self.session = session
        self.payload = payload
    }

    /// The greatest length of a payload in bytes, that of a message of the usual push services.
    package static let payloadLimit = 4_096

    /// The wake without its payload, as it is reported after its delivery.
    package var withoutPayload: WakeReason { WakeReason(kind, id: id, session: session) }
}

/// The result of a wake; each accepted wake has one.
package enum WakeResult: UInt8, Sendable, Hashable, CaseIterable {
    case newData, noData
    /// The application reported a failure, was late, or ended before it completed the wake.
    case failed
}
