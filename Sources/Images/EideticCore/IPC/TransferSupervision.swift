/// A message between the supervisor and the transfer process, on a socket that the supervisor has made.
package enum TransferSupervision: Sendable, Hashable {
    /// From the supervisor: the descriptor with the packet is a connection of this application.
    case connection(application: String)
    /// From the supervisor: the user has quit the application by force; its transfers are cancelled.
    case forceQuit(application: String)
    /// From the supervisor: whether the network is metered; discretionary transfers wait for one that is not.
    case network(isMetered: Bool)
    /// From the transfer process: a session has finished, and nobody handles its events: wake the application, or
    /// launch it.
    case wake(application: String, session: String)
    /// From the supervisor: the descriptor with the packet is a listening socket.
    case listener
    /// From the supervisor: whether events wait, because the application is suspended or has not handled its wake yet.
    case hold(application: String, isHeld: Bool)
    /// From the supervisor: the application was not woken for a session, or ended before it had handled the wake.
    case wakeFailed(application: String, session: String)

    /// The largest number of bytes of the name of an application or a session.
    package static let nameLimit = 255
}

extension TransferSupervision: WireRecord {
    package static let layout = Layout<Self>(
        Case(1, connection, .name) { if case .connection(let application) = $0 { application } else { nil } },
        Case(2, forceQuit, .name) { if case .forceQuit(let application) = $0 { application } else { nil } },
        Case(3, wake, .name, .name) { if case .wake(let name, let session) = $0 { (name, session) } else { nil } },
        Case(4, network) { if case .network(let isMetered) = $0 { isMetered } else { nil } },
        Case(5, listener),
        Case(6, hold, .name, .value) { if case .hold(let name, let isHeld) = $0 { (name, isHeld) } else { nil } },
        Case(7, wakeFailed, .name, .name) {
            if case .wakeFailed(let name, let session) = $0 { (name, session) } else { nil }
        }
    )
}

extension Layout<String> {
    fileprivate static var name: Self { text(limit: TransferSupervision.nameLimit) }
}
