internal import EideticLifecycle

/// A reason for which the supervisor wakes an application in the background, for up to 30 s.
public struct BackgroundWake: Sendable, Hashable {
    /// The kind of a wake.
    public enum Kind: Sendable, Hashable, CaseIterable {
        /// New content may be available.
        case fetch
        /// A silent push message arrived.
        case push
        /// The transfers of a session have ended.
        case session
        /// Long work may run now.
        case processing
        /// The user responded to a notification.
        case notification
        /// The location has changed.
        case location
        /// Data arrived on a socket that was handed to the supervisor.
        case voip
    }

    /// The result of a wake.
    public enum Result: Sendable, Hashable, CaseIterable {
        /// There was new data.
        case newData
        /// There was no new data.
        case noData
        /// The work failed.
        case failed
    }

    /// The kind of the wake.
    public let kind: Kind
    /// The number that identifies the wake.
    package let id: UInt64
    /// The name of the socket with data, or the identifier of the request; empty for other kinds.
    public let name: String
    /// The first data on the socket, which is not consumed, or the push message; empty for other kinds.
    ///
    /// At most 4,096 bytes, which are not trusted.
    public let payload: [UInt8]

    init(_ reason: WakeReason) {
        kind = Kind(reason.kind)
        id = reason.id
        name = reason.session
        payload = reason.payload
    }

    /// The location, if it is the reason.
    public var location: LocationUpdate? { kind == .location ? LocationUpdate(payload: payload) : nil }
}

extension BackgroundWake.Kind {
    init(_ kind: WakeReason.Kind) {
        switch kind {
        case .fetch: self = .fetch
        case .push: self = .push
        case .session: self = .session
        case .processing: self = .processing
        case .notification: self = .notification
        case .location: self = .location
        case .voip: self = .voip
        }
    }
}

extension WakeResult {
    init(_ result: BackgroundWake.Result) {
        switch result {
        case .newData: self = .newData
        case .noData: self = .noData
        case .failed: self = .failed
        }
    }
}
