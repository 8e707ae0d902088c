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

    private enum Tag: UInt8 { case connection = 1, forceQuit, wake, network, listener, hold, wakeFailed }
}

extension TransferSupervision: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        switch self {
        case .connection(let application):
            writer.append(Tag.connection.rawValue)
            writer.append(application)
        case .forceQuit(let application):
            writer.append(Tag.forceQuit.rawValue)
            writer.append(application)
        case .network(let isMetered):
            writer.append(Tag.network.rawValue)
            writer.append(isMetered)
        case .wake(let application, let session):
            writer.append(Tag.wake.rawValue)
            writer.append(application)
            writer.append(session)
        case .listener: writer.append(Tag.listener.rawValue)
        case .hold(let application, let isHeld):
            writer.append(Tag.hold.rawValue)
            writer.append(application)
            writer.append(isHeld)
        case .wakeFailed(let application, let session):
            writer.append(Tag.wakeFailed.rawValue)
            writer.append(application)
            writer.append(session)
        }
    }

    package init(from reader: inout WireReader) throws(WireError) {
        switch try reader.enumeration(Tag.self) {
        case .connection: self = .connection(application: try reader.text(limit: Self.nameLimit))
        case .forceQuit: self = .forceQuit(application: try reader.text(limit: Self.nameLimit))
        case .network: self = .network(isMetered: try reader.boolean())
        case .wake:
            let application = try reader.text(limit: Self.nameLimit)
            self = .wake(application: application, session: try reader.text(limit: Self.nameLimit))
        case .listener: self = .listener
        case .hold:
            let application = try reader.text(limit: Self.nameLimit)
            self = .hold(application: application, isHeld: try reader.boolean())
        case .wakeFailed:
            let application = try reader.text(limit: Self.nameLimit)
            self = .wakeFailed(application: application, session: try reader.text(limit: Self.nameLimit))
        }
    }
}
