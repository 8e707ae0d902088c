package import EideticLifecycle
import Glibc

/// The interface by which notifications are shown: that of the desktop, or that of a sandbox's portal.
///
/// - SeeAlso: Desktop Notifications Specification 1.2; org.freedesktop.portal.Notification
package enum NotificationInterface: Sendable {
    case desktop, portal

    /// A click on a notification.
    package struct Response: Sendable {
        /// The number of the server, or the name that the portal has.
        package enum Reference: Sendable, Equatable { case number(UInt32), name(String) }

        package let reference: Reference
        package let action: String
        package let isClosed: Bool
    }

    /// The interface for programs of this process's environment.
    package static var current: NotificationInterface { access("/.flatpak-info", F_OK) == 0 ? .portal : .desktop }

    package var target: BusTarget {
        switch self {
        case .desktop:
            BusTarget(
                service: "org.freedesktop.Notifications",
                path: "/org/freedesktop/Notifications",
                interface: "org.freedesktop.Notifications"
            )
        case .portal:
            BusTarget(
                service: "org.freedesktop.portal.Desktop",
                path: "/org/freedesktop/portal/desktop",
                interface: "org.freedesktop.portal.Notification"
            )
        }
    }

    /// The rules that select the signals of clicks.
    package var rules: [String] { ["type='signal',interface='\(target.interface)'"] }

    package func call(
        for due: NotificationTable.DueNotification,
        identifier: String,
        name: String,
        icon: String,
        replacing number: UInt32
    ) -> (member: String, values: [BusValue]) {
        let content = due.request.content
        let body = due.isLate ? "\(content.body)\n\(ScheduleText.date(ofLocal: due.date))" : content.body
        switch self {
        case .desktop:
            var hints: [(String, BusValue)] = [("desktop-entry", .string(identifier))]
            if let sound = content.sound.name { hints.append(("sound-name", .string(sound))) }
            return (
                "Notify",
                [
                    .string(name), .uint32(number), .string(icon), .string(content.title), .string(Self.escaped(body)),
                    .array(signature: "s", [.string("default"), .string("")]), .dictionary(hints), .int32(-1),
                ]
            )
        case .portal:
            let entries: [(String, BusValue)] = [
                ("title", .string(content.title)), ("body", .string(body)), ("default-action", .string("default")),
            ]
            let reference = Self.portalName(of: due.request.identifier, application: identifier)
            return ("AddNotification", [.string(reference), .dictionary(entries)])
        }
    }

    package static func portalName(of notification: String, application: String) -> String {
        "\(application)/\(notification)"
    }

    /// The body is markup for servers that show some.
    package static func escaped(_ text: String) -> String {
        text.map { character in
            switch character {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            default: String(character)
            }
        }.joined()
    }

    /// Returns the call that removes a notification from the screen.
    package func removal(of delivered: NotificationTable.Delivered, application: String) -> (
        member: String, values: [BusValue]
    ) {
        switch self {
        case .desktop: ("CloseNotification", [.uint32(delivered.number)])
        case .portal:
            (
                "RemoveNotification",
                [.string(Self.portalName(of: delivered.request.identifier, application: application))]
            )
        }
    }

    /// Returns the click that a signal reports; `nil` for another one.
    package func response(in message: BusMessage) -> Response? {
        guard message.interface == target.interface, let first = message.values.first, message.values.count >= 2 else {
            return nil
        }
        switch (self, message.member) {
        case (.desktop, "ActionInvoked"):
            guard let number = first.number, let action = message.values[1].text else { return nil }
            return Response(reference: .number(number), action: action, isClosed: false)
        case (.desktop, "NotificationClosed"):
            return first.number.map { Response(reference: .number($0), action: "", isClosed: true) }
        case (.portal, "ActionInvoked"):
            guard let name = first.text, let action = message.values[1].text else { return nil }
            return Response(reference: .name(name), action: action, isClosed: false)
        default: return nil
        }
    }
}

extension NotificationTable {
    /// Returns the notification that a user has responded to; `nil` for that of another application.
    package func delivered(
        _ response: NotificationInterface.Response,
        of application: String
    ) -> Delivered? {
        delivered.last { entry in
            switch response.reference {
            case .number(let number): entry.number == number && number != 0
            case .name(let name):
                NotificationInterface.portalName(of: entry.request.identifier, application: application) == name
            }
        }
    }

    /// Removes notifications from the screen; all without identifiers.
    package mutating func withdraw(
        _ identifiers: Set<String>?,
        of application: String,
        from interface: NotificationInterface,
        on bus: BusConnection?
    ) {
        let isMeant = { (entry: Delivered) in identifiers?.contains(entry.request.identifier) ?? true }
        for entry in delivered where isMeant(entry) {
            let (member, values) = interface.removal(of: entry, application: application)
            bus?.call(member, on: interface.target, with: values)
        }
        delivered.removeAll(where: isMeant)
    }
}

/// The number at the icon of an application.
///
/// - SeeAlso: Unity Launcher API, which several docks and panels implement
package enum LauncherEntry {
    /// Shows a number; 0 removes it.
    package static func show(_ badge: UInt32, of identifier: String, on bus: BusConnection) {
        // The path depends on the identifier alone.
        let number = identifier.utf8.reduce(UInt64(5_381)) { $0 &* 33 &+ UInt64($1) }
        bus.emit(
            "Update",
            from: "/com/canonical/unity/launcherentry/\(number)",
            interface: "com.canonical.Unity.LauncherEntry",
            with: [
                .string("application://\(identifier).desktop"),
                .dictionary([("count", .int64(Int64(badge))), ("count-visible", .boolean(badge > 0))]),
            ]
        )
    }
}
