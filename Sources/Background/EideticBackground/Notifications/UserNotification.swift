public import EideticCore
import EideticLifecycle
import EideticSupervision

/// A notification of the application to its user.
public struct UserNotification: Sendable, Hashable, Identifiable {
    /// The time at which a notification is shown.
    public enum Trigger: Sendable, Hashable {
        /// At once.
        case immediate
        /// After a duration of 1 s or more, independent of changes of the clock; if it repeats, every 60 s or more.
        case timeInterval(Duration, repeats: Bool)
        /// At a point in time by the machine's clock, to the second.
        case date(Timestamp)
        /// Each day at a local time, or only on one weekday, from 0 (Sunday) to 6.
        case daily(hour: Int, minute: Int, weekday: Int? = nil)
    }

    /// The sound of a notification.
    public enum Sound: Sendable, Hashable {
        /// The sound of the desktop's theme for messages.
        case standard
        /// A sound of the desktop's theme, such as `alarm-clock-elapsed`.
        case named(String)
    }

    /// The identifier, 1 to 255 bytes; a later notification with the same identifier replaces this one.
    public var id: String
    /// The heading, at most 4,096 bytes.
    public var title = ""
    /// The text, at most 4,096 bytes.
    public var body = ""
    /// The sound; `nil`, the default, for none.
    public var sound: Sound?
    /// The badge of the application's icon when the notification is shown; `nil`, the default, leaves it unchanged.
    public var badge: Int?
    /// Text that is returned with the response, at most 4,096 bytes; empty by default.
    public var userInfo = ""
    /// The time; at once by default.
    public var trigger = Trigger.immediate

    /// Creates a notification.
    public init(id: String, title: String, body: String = "") {
        self.id = id
        self.title = title
        self.body = body
    }

    var request: NotificationRequest {
        var content = NotificationRequest.Content()
        content.title = title
        content.body = body
        content.userInfo = userInfo
        switch sound {
        case .standard: content.sound = .standard
        case .named(let name): content.sound = .named(name)
        case nil: content.sound = .none
        }
        content.badge = badge.map { UInt32(clamping: $0) }
        var request = NotificationRequest(identifier: id, content: content)
        switch trigger {
        case .immediate: request.trigger = .now
        case .timeInterval(let time, let repeats):
            request.trigger = .interval(time.components.seconds, repeats: repeats)
        case .date(let moment): request.trigger = .date(moment.seconds)
        case .daily(let hour, let minute, let weekday):
            // Out of range, it is refused as such.
            let isValid = (0..<24).contains(hour) && (0..<60).contains(minute)
            let second = isValid ? Int64(hour) * .hour + Int64(minute) * .minute : -1
            request.trigger = .daily(second: second, weekday: weekday.map { UInt8(clamping: $0) })
        }
        return request
    }
}

/// The response of the user to a notification.
public struct NotificationResponse: Sendable, Hashable {
    /// The identifier of the notification.
    public let identifier: String
    /// The name of the chosen action; `default` for a click on the notification itself.
    public let action: String
    /// The notification's ``UserNotification/userInfo``.
    public let userInfo: String
    /// The time at which the notification was due.
    public let date: Timestamp

    init(_ message: NotificationResponseMessage) {
        identifier = message.identifier
        action = message.action
        userInfo = message.userInfo
        date = Timestamp(seconds: message.date)
    }
}
