/// A local notification: its content, and the time at which it is shown.
package struct NotificationRequest: Sendable, Hashable {
    /// The identifier in the application; a later request with the same one replaces this one, also on the screen.
    package var identifier: String
    package var content: Content
    package var trigger = Trigger.now

    package init(identifier: String, content: Content, trigger: Trigger = .now) {
        self.identifier = identifier
        self.content = content
        self.trigger = trigger
    }

    package struct Content: Sendable, Hashable {
        package var title = ""
        package var body = ""
        package var sound = Sound.none
        /// The number at the application's icon; `nil` leaves it as it is.
        package var badge: UInt32?
        /// Text that the application gets back with the response.
        package var userInfo = ""

        package init(
            title: String = "",
            body: String = "",
            sound: Sound = .none,
            badge: UInt32? = nil,
            userInfo: String = ""
        ) {
            self.title = title
            self.body = body
            self.sound = sound
            self.badge = badge
            self.userInfo = userInfo
        }
    }

    package enum Sound: Sendable, Hashable {
        case none
        /// The sound of the desktop's theme for messages.
        case standard
        /// A sound of the theme by its name.
        case named(String)
    }

    /// The time at which a notification is shown.
    package enum Trigger: Sendable, Hashable {
        case now
        /// After an interval in seconds of the steady clock; again and again if it repeats.
        case interval(Int64, repeats: Bool)
        /// At a moment in seconds since 1970, UTC.
        case date(Int64)
        /// Each day at a second of the day by the user's clock; on one weekday only (0 is Sunday) if there is one.
        case daily(second: Int64, weekday: UInt8?)
    }

    /// The greatest lengths of texts in bytes; together they fit into a message.
    package static let identifierLimit = 255
    package static let textLimit = 4_096
    /// The shortest interval of a notification that repeats, in seconds.
    package static let leastRepetition: Int64 = 60

    /// The reason for which the request cannot be accepted; `nil` if it can.
    package var fault: String? {
        let texts = [content.title, content.body, content.userInfo] + [content.sound.name].compactMap(\.self)
        if !(1...Self.identifierLimit).contains(identifier.utf8.count) {
            return "the identifier must have 1 to \(Self.identifierLimit) bytes"
        }
        if texts.contains(where: { $0.utf8.count > Self.textLimit }) { return "a text has more than 4,096 bytes" }
        switch trigger {
        case .interval(let seconds, let repeats) where seconds < (repeats ? Self.leastRepetition : 1):
            return "the interval is \(seconds) s, but must be \(repeats ? Self.leastRepetition : 1) s or more"
        case .interval(let seconds, _) where seconds > 3_660 * .day: return "the interval exceeds ten years"
        case .daily(let second, let weekday):
            let isValid = (0..<Int64.day).contains(second) && weekday ?? 0 < 7
            return isValid ? nil : "the time of day or the weekday is out of range"
        case .date(let time): return (0...253_402_300_799).contains(time) ? nil : "the date is out of range"
        default: return nil
        }
    }
}

extension NotificationRequest.Sound {
    /// The name in the sound theme; `nil` for no sound.
    package var name: String? {
        switch self {
        case .none: nil
        case .standard: "message-new-instant"
        case .named(let name): name
        }
    }
}
