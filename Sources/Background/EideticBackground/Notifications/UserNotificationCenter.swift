public import EideticCore
import EideticLifecycle
import EideticSupervision

/// The notifications of an application: immediate, scheduled and repeating ones.
///
/// With a supervisor they are shown whether or not the application runs, even after a reboot; a click launches the
/// application, or brings it to the foreground. Without a supervisor this process shows them, and pending ones are lost
/// when it ends, and a click cannot launch it; see ``Application/isSupervised``.
public final class UserNotificationCenter: Sendable {
    /// The notifications of ``Application/shared``.
    public static let shared = UserNotificationCenter(application: .shared)

    private let application: Application

    package init(application: Application) { self.application = application }

    /// Adds a notification; it replaces one with the same identifier, even if that is already displayed.
    ///
    /// Up to 1,000 notifications can be pending; none is dropped.
    ///
    /// - Parameter notification: The notification.
    /// - Throws: `EideticError.Code.invalidArgument`, for example for a time out of range, a text that is too long, or
    ///   if 1,000 notifications are pending already.
    nonisolated(nonsending) public func add(_ notification: UserNotification) async throws(EideticError) {
        let request = notification.request
        if let fault = request.fault {
            throw EideticError(.invalidArgument, message: "notification \(notification.id): \(fault)")
        }
        let reply = await application.wakeCenter.request { .addNotification(request, number: $0) }
        guard case .notification(let fault?, _) = reply else { return }
        throw EideticError(.invalidArgument, message: "notification \(notification.id): \(fault)")
    }

    /// The identifiers of the pending notifications.
    nonisolated(nonsending) public var pendingIdentifiers: [String] {
        get async {
            let reply = await application.wakeCenter.request { .listNotifications(number: $0) }
            return if case .notifications(let identifiers, _, _) = reply { identifiers } else { [] }
        }
    }

    /// Removes pending notifications, by default all.
    public func removePending(withIdentifiers identifiers: [String]? = nil) {
        remove(identifiers, waiting: true, shown: false)
    }

    /// Removes notifications of the application from the screen, by default all.
    public func removeDelivered(withIdentifiers identifiers: [String]? = nil) {
        remove(identifiers, waiting: false, shown: true)
    }

    private func remove(_ identifiers: [String]?, waiting: Bool, shown: Bool) {
        guard let identifiers else {
            return application.wakeCenter.post(.removeNotifications(nil, waiting: waiting, shown: shown))
        }
        let size = WakeCommand.identifiersPerPacket
        for start in stride(from: 0, to: identifiers.count, by: size) {
            let part = Array(identifiers[start..<min(start + size, identifiers.count)])
            application.wakeCenter.post(.removeNotifications(part, waiting: waiting, shown: shown))
        }
    }

    /// Sets the badge of the application's icon, if the desktop shows badges; 0 removes it.
    public func setBadge(_ count: Int) { application.wakeCenter.post(.setBadge(UInt32(clamping: count))) }
}
