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
    case beginContinued(ContinuedWorkMessage, number: UInt64)
    /// Reports the progress of such work.
    case reportContinued(String, completed: UInt64, total: UInt64)
    case endContinued(String)

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
    case response(NotificationResponseMessage)
    /// The address for messages; `nil` if there is none any more, with the reason.
    case address(String?, reason: String)
    /// An action of the desktop entry, by its name, with the text that came with it.
    case action(String, parameter: String)
    /// A socket that an earlier process has left with the supervisor; its descriptor comes with the packet.
    case socket(String)
    /// Work that the user has started is to end, for a reason.
    case stopContinued(String, reason: String)
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
        self.identifier = identifier
        self.action = action
        self.userInfo = userInfo
        self.date = date
    }
}

extension WakeCommand: WireRecord {
    package static let layout = Layout<Self>(
        Case(1, setFetchInterval) { if case .setFetchInterval(let interval) = $0 { interval } else { nil } },
        Case(2, submit) { if case .submit(let request, let number) = $0 { (request, number) } else { nil } },
        Case(3, cancel, .optional(.identifier)) {
            if case .cancel(let identifier) = $0 { .some(identifier) } else { nil }
        },
        Case(4, addNotification) {
            if case .addNotification(let request, let number) = $0 { (request, number) } else { nil }
        },
        Case(5, removeNotifications, .optional(.identifiers), .value, .value) {
            if case .removeNotifications(let names, let waiting, let shown) = $0 {
                (names, waiting, shown)
            } else {
                nil
            }
        },
        Case(6, listNotifications) { if case .listNotifications(let number) = $0 { number } else { nil } },
        Case(7, setBadge) { if case .setBadge(let badge) = $0 { badge } else { nil } },
        Case(8, registerForMessages),
        Case(9, unregisterFromMessages),
        Case(10, keepSocket, .identifier) { if case .keepSocket(let name) = $0 { name } else { nil } },
        Case(11, releaseSocket, .identifier) { if case .releaseSocket(let name) = $0 { name } else { nil } },
        Case(12, setLocationUpdates) { if case .setLocationUpdates(let isOn) = $0 { isOn } else { nil } },
        Case(13, beginContinued) {
            if case .beginContinued(let work, let number) = $0 { (work, number) } else { nil }
        },
        Case(14, reportContinued, .identifier, .value, .value) {
            if case .reportContinued(let name, let completed, let total) = $0 { (name, completed, total) } else { nil }
        },
        Case(15, endContinued, .identifier) { if case .endContinued(let name) = $0 { name } else { nil } }
    )
}

extension WakeReply: WireRecord {
    package static let layout = Layout<Self>(
        Case(1, task) { if case .task(let error, let number) = $0 { (error, number) } else { nil } },
        Case(2, notification, .optional(.path), .value) {
            if case .notification(let fault, let number) = $0 { (fault, number) } else { nil }
        },
        Case(3, notifications, .identifiers, .value, .value) {
            if case .notifications(let names, let number, let isLast) = $0 { (names, number, isLast) } else { nil }
        },
        Case(4, response) { if case .response(let response) = $0 { response } else { nil } },
        Case(5, address, .optional(.path), .path) {
            if case .address(let address, let reason) = $0 { (address, reason) } else { nil }
        },
        Case(6, action, .identifier, .path) {
            if case .action(let name, let parameter) = $0 { (name, parameter) } else { nil }
        },
        Case(7, socket, .identifier) { if case .socket(let name) = $0 { name } else { nil } },
        Case(8, stopContinued, .identifier, .path) {
            if case .stopContinued(let name, let reason) = $0 { (name, reason) } else { nil }
        }
    )
}

extension NotificationResponseMessage: WireRecord {
    package static let layout = Layout(
        Self.init,
        Field(\.identifier, .identifier),
        Field(\.action, .identifier),
        Field(\.userInfo, .text(limit: NotificationRequest.textLimit)),
        Field(\.date)
    )
}

extension Layout<[String]> {
    fileprivate static var identifiers: Self { list(.identifier, limit: SupervisionProtocol.listLimit) }
}
