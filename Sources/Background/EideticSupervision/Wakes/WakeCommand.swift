package import EideticCore
package import EideticLifecycle

/// A request of an application that concerns its wakes and notifications.
package enum WakeCommand: Sendable, Hashable {
    case setFetchInterval(FetchInterval)
    /// Adds a request for background time; its ``TaskRequest/earliestBegin`` is a delay in seconds.
    case submit(TaskRequest, number: UInt64)
    /// Cancels the requests with an identifier, or all.
    case cancel(String?)
    case addNotification(NotificationRequest, number: UInt64)
    /// Removes notifications that wait, and those that were shown; all without identifiers.
    case removeNotifications([String]?, waiting: Bool, shown: Bool)
    /// Asks for the identifiers of the notifications that wait, the soonest one first.
    case listNotifications(number: UInt64)
    case setBadge(UInt32)
    /// Asks for an address to which a server sends messages.
    case registerForMessages
    case unregisterFromMessages
    /// Leaves the socket, whose descriptor comes with the packet, with the supervisor; its name is for explanations.
    case keepSocket(String)
    case releaseSocket(String)
    case setLocationUpdates(Bool)
    /// Begins work that the user has started.
    case beginContinued(ContinuedWorkMessage, number: UInt64)
    /// Reports the progress of such work.
    case reportContinued(String, completed: UInt64, total: UInt64)
    case endContinued(String)

    private enum Kind: UInt8 {
        case setFetchInterval = 1
        case submit, cancel, addNotification, removeNotifications, listNotifications, setBadge, registerForMessages
        case unregisterFromMessages, keepSocket, releaseSocket, setLocationUpdates
        case beginContinued, reportContinued, endContinued
    }

    /// The greatest number of identifiers in a packet.
    package static let identifiersPerPacket = 200
}

/// An answer or a message of the supervisor that concerns wakes and notifications.
package enum WakeReply: Sendable, Hashable {
    /// The result of a request for background time; `nil` if it was accepted.
    case task(TaskRequestError?, number: UInt64)
    /// The result of a request for a notification: the fault, or `nil` if it was accepted.
    case notification(fault: String?, number: UInt64)
    case notifications([String], number: UInt64, isLast: Bool)
    /// The user has responded to a notification.
    case response(NotificationResponseMessage)
    /// The address for messages; `nil` if there is none any more, with the reason.
    case address(String?, reason: String)
    /// An action of the desktop entry, by its name, with the text that came with it.
    case action(String, parameter: String)
    /// A socket that an earlier process has left with the supervisor; its descriptor comes with the packet.
    case socket(String)
    /// Work that the user has started is to end, for a reason.
    case stopContinued(String, reason: String)

    private enum Kind: UInt8 {
        case task = 1
        case notification, notifications, response, address, action, socket, stopContinued
    }
}

/// The response of a user to a notification.
package struct NotificationResponseMessage: Sendable, Hashable {
    package var identifier: String
    /// The name of the chosen action; `default` for a click on the notification itself.
    package var action: String
    package var userInfo: String
    /// The time at which the notification was due, in seconds since 1970.
    package var date: Int64

    package init(identifier: String, action: String, userInfo: String, date: Int64) {
        (self.identifier, self.action, self.userInfo, self.date) = (identifier, action, userInfo, date)
    }
}

extension WakeCommand: WireEncodable, WireDecodable {
    private var kind: Kind {
        switch self {
        case .setFetchInterval: .setFetchInterval
        case .submit: .submit
        case .cancel: .cancel
        case .addNotification: .addNotification
        case .removeNotifications: .removeNotifications
        case .listNotifications: .listNotifications
        case .setBadge: .setBadge
        case .registerForMessages: .registerForMessages
        case .unregisterFromMessages: .unregisterFromMessages
        case .keepSocket: .keepSocket
        case .releaseSocket: .releaseSocket
        case .setLocationUpdates: .setLocationUpdates
        case .beginContinued: .beginContinued
        case .reportContinued: .reportContinued
        case .endContinued: .endContinued
        }
    }

    package func write(to writer: inout WireWriter) {
        writer.append(kind.rawValue)
        switch self {
        case .setFetchInterval(let interval): writer.append(interval)
        case .submit(let request, let number):
            writer.append(number)
            writer.append(request)
        case .cancel(let identifier): writer.append(optional: identifier) { $0.append($1) }
        case .addNotification(let request, let number):
            writer.append(number)
            writer.append(request)
        case .removeNotifications(let identifiers, let waiting, let shown):
            writer.append(optional: identifiers) { $0.append(list: $1) { $0.append($1) } }
            writer.append(waiting)
            writer.append(shown)
        case .listNotifications(let number): writer.append(number)
        case .setBadge(let badge): writer.append(badge)
        case .keepSocket(let name), .releaseSocket(let name): writer.append(name)
        case .setLocationUpdates(let isOn): writer.append(isOn)
        case .beginContinued(let work, let number):
            writer.append(number)
            writer.append(work)
        case .reportContinued(let identifier, let completed, let total):
            writer.append(identifier)
            writer.append(completed)
            writer.append(total)
        case .endContinued(let identifier): writer.append(identifier)
        case .registerForMessages, .unregisterFromMessages: break
        }
    }

    package init(from reader: inout WireReader) throws(WireError) {
        switch try reader.enumeration(Kind.self) {
        case .setFetchInterval: self = .setFetchInterval(try FetchInterval(from: &reader))
        case .submit:
            let number = try reader.integer(UInt64.self)
            self = .submit(try TaskRequest(from: &reader), number: number)
        case .cancel:
            self = .cancel(try reader.optional { (reader) throws(WireError) in try reader.identifier() })
        case .addNotification:
            let number = try reader.integer(UInt64.self)
            self = .addNotification(try NotificationRequest(from: &reader), number: number)
        case .removeNotifications:
            let identifiers = try reader.optional { (reader) throws(WireError) in try reader.identifiers() }
            self = .removeNotifications(identifiers, waiting: try reader.boolean(), shown: try reader.boolean())
        case .listNotifications: self = .listNotifications(number: try reader.integer())
        case .setBadge: self = .setBadge(try reader.integer())
        case .registerForMessages: self = .registerForMessages
        case .unregisterFromMessages: self = .unregisterFromMessages
        case .keepSocket: self = .keepSocket(try reader.identifier())
        case .releaseSocket: self = .releaseSocket(try reader.identifier())
        case .setLocationUpdates: self = .setLocationUpdates(try reader.boolean())
        case .beginContinued:
            let number = try reader.integer(UInt64.self)
            self = .beginContinued(try ContinuedWorkMessage(from: &reader), number: number)
        case .reportContinued:
            let identifier = try reader.identifier()
            let completed = try reader.integer(UInt64.self)
            self = .reportContinued(identifier, completed: completed, total: try reader.integer())
        case .endContinued: self = .endContinued(try reader.identifier())
        }
    }
}

extension WakeReply: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        switch self {
        case .task(let error, let number):
            writer.append(Kind.task.rawValue)
            writer.append(number)
            writer.append(optional: error) { $0.append($1.rawValue) }
        case .notification(let fault, let number):
            writer.append(Kind.notification.rawValue)
            writer.append(number)
            writer.append(optional: fault) { $0.append($1) }
        case .notifications(let identifiers, let number, let isLast):
            writer.append(Kind.notifications.rawValue)
            writer.append(number)
            writer.append(isLast)
            writer.append(list: identifiers) { $0.append($1) }
        case .response(let response):
            writer.append(Kind.response.rawValue)
            writer.append(response)
        case .address(let address, let reason):
            writer.append(Kind.address.rawValue)
            writer.append(optional: address) { $0.append($1) }
            writer.append(reason)
        case .action(let name, let parameter):
            writer.append(Kind.action.rawValue)
            writer.append(name)
            writer.append(parameter)
        case .socket(let name):
            writer.append(Kind.socket.rawValue)
            writer.append(name)
        case .stopContinued(let identifier, let reason):
            writer.append(Kind.stopContinued.rawValue)
            writer.append(identifier)
            writer.append(reason)
        }
    }

    package init(from reader: inout WireReader) throws(WireError) {
        switch try reader.enumeration(Kind.self) {
        case .task:
            let number = try reader.integer(UInt64.self)
            let error = try reader.optional { (reader) throws(WireError) in
                try reader.enumeration(TaskRequestError.self)
            }
            self = .task(error, number: number)
        case .notification:
            let number = try reader.integer(UInt64.self)
            let fault = try reader.optional { (reader) throws(WireError) in
                try reader.text(limit: SupervisionProtocol.pathLimit)
            }
            self = .notification(fault: fault, number: number)
        case .notifications:
            let number = try reader.integer(UInt64.self)
            let isLast = try reader.boolean()
            self = .notifications(try reader.identifiers(), number: number, isLast: isLast)
        case .response: self = .response(try NotificationResponseMessage(from: &reader))
        case .address:
            let address = try reader.optional { (reader) throws(WireError) in
                try reader.text(limit: SupervisionProtocol.pathLimit)
            }
            self = .address(address, reason: try reader.text(limit: SupervisionProtocol.pathLimit))
        case .action:
            let name = try reader.identifier()
            self = .action(name, parameter: try reader.text(limit: SupervisionProtocol.pathLimit))
        case .socket: self = .socket(try reader.identifier())
        case .stopContinued:
            let identifier = try reader.identifier()
            self = .stopContinued(identifier, reason: try reader.text(limit: SupervisionProtocol.pathLimit))
        }
    }
}

extension NotificationResponseMessage: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        for text in [identifier, action, userInfo] { writer.append(text) }
        writer.append(date)
    }

    package init(from reader: inout WireReader) throws(WireError) {
        let identifier = try reader.identifier()
        let action = try reader.identifier()
        let userInfo = try reader.text(limit: NotificationRequest.textLimit)
        self.init(identifier: identifier, action: action, userInfo: userInfo, date: try reader.integer())
    }
}

extension WireReader {
    fileprivate mutating func identifiers() throws(WireError) -> [String] {
        try list(limit: SupervisionProtocol.listLimit) { (reader) throws(WireError) in try reader.identifier() }
    }
}
