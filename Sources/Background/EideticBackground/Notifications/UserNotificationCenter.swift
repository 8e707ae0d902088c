public import EideticCore
import EideticLifecycle
import EideticSupervision

/// The notifications of an application: shown now, at a time, or again and again.
///
/// Under a supervisor they are shown whether or not the application runs, also after a start of the machine; a click
/// launches it, or brings it to the foreground. Without one, this process shows them while it runs, and those that wait
/// end with it; see ``deliversWithoutApplication``.
public final class UserNotificationCenter: Sendable {
    /// The notifications of ``Application/shared``.
    public static let shared = UserNotificationCenter(application: .shared)

    private let application: Application

    package init(application: Application) { self.application = application }

    /// A Boolean value indicating whether notifications are shown when the application is suspended or does not run.
    ///
    /// `false` without a supervisor: then they are shown while this process runs, and a click cannot launch it.
    public var deliversWithoutApplication: Bool { application.isSupervised }

    /// Adds a notification, in place of one with the same identifier, also on the screen.
    ///
    /// Of those that wait, the 64 soonest are armed; the others follow, none is dropped.
    ///
    /// - Parameter notification: The notification.
    /// - Throws: `EideticError.Code.invalidArgument` with the fault, such as a time out of range, a text that is too
    ///   long, or 1,000 notifications that wait already.
    public func add(_ notification: UserNotification) async throws(EideticError) {
        let request = notification.request
        if let fault = request.fault {
            throw EideticError(.invalidArgument, message: "notification \(notification.id): \(fault)")
        }
        let reply = await application.wakeCenter.request { .addNotification(request, number: $0) }
        guard case .notification(let fault?, _) = reply else { return }
        throw EideticError(.invalidArgument, message: "notification \(notification.id): \(fault)")
    }

    /// The identifiers of the notifications that wait for their time.
    public var pendingIdentifiers: [String] {
        get async {
            let reply = await application.wakeCenter.request { .listNotifications(number: $0) }
            return if case .notifications(let identifiers, _, _) = reply { identifiers } else { [] }
        }
    }

    /// Removes notifications that wait for their time.
    public func removePending(withIdentifiers identifiers: [String]) {
        remove(identifiers, waiting: true, shown: false)
    }

    /// Removes all notifications that wait for their time.
    public func removeAllPending() {
        application.wakeCenter.post(.removeNotifications(nil, waiting: true, shown: false))
    }

    /// Removes notifications from the screen.
    public func removeDelivered(withIdentifiers identifiers: [String]) {
        remove(identifiers, waiting: false, shown: true)
    }

    /// Removes all notifications of the application from the screen.
    public func removeAllDelivered() {
        application.wakeCenter.post(.removeNotifications(nil, waiting: false, shown: true))
    }

    private func remove(_ identifiers: [String], waiting: Bool, shown: Bool) {
        let size = WakeCommand.identifiersPerPacket
        for start in stride(from: 0, to: identifiers.count, by: size) {
            let part = Array(identifiers[start..<min(start + size, identifiers.count)])
            application.wakeCenter.post(.removeNotifications(part, waiting: waiting, shown: shown))
        }
    }

    /// Sets the number at the application's icon, where the desktop shows one; 0 removes it.
    public func setBadge(_ count: Int) { application.wakeCenter.post(.setBadge(UInt32(clamping: count))) }
}
