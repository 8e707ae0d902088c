import EideticDBus
import EideticLifecycle
import EideticSupervision

// Local notifications, their responses, and the badges of applications.
extension DesktopServices {
    /// The time in seconds after which a notification is shown again that no server took.
    private static let showPause: Int64 = 60
    /// The time in which a notification server answers, which the bus may have to start.
    private static let answerLimit: Duration = .seconds(10)

    // MARK: Showing

    func showDueNotifications(of application: SupervisedApplication, at now: ScheduleTime) {
        for due in application.components.wakes.record.notifications.takeDue(at: now) { show(due, of: application) }
    }

    private func show(_ due: NotificationTable.DueNotification, of application: SupervisedApplication) {
        guard let bus = session?.connection else { return keep(due, of: application, because: lines.first ?? "") }
        let entry = application.program.manifest.manifest
        let (member, values) = notificationsInterface.call(
            for: due,
            identifier: application.identifier,
            name: entry?.name ?? application.identifier,
            icon: entry?.icon ?? "",
            replacing: application.components.wakes.record.notifications.replacedNumber(for: due.request.identifier)
        )
        bus.call(member, on: notificationsInterface.target, with: values, timeout: Self.answerLimit) {
            [weak self, weak application] result in
            guard let self, let application else { return }
            switch result {
            case .success(let values): recordDelivery(of: due, number: values.first?.number ?? 0, to: application)
            case .failure(let error): keep(due, of: application, because: "\(error)")
            }
        }
    }

    /// Keeps a notification that could not be shown, which comes again with its date.
    private func keep(
        _ due: NotificationTable.DueNotification,
        of application: SupervisedApplication,
        because reason: String
    ) {
        let identifier = due.request.identifier
        application.log("the notification \(identifier) could not be shown, and is shown later: \(reason)")
        let now = supervisor.context.clock.now
        application.components.wakes.record.notifications.keep(due, for: Self.showPause, at: now)
        application.saveWakes()
    }

    private func recordDelivery(
        of due: NotificationTable.DueNotification,
        number: UInt32,
        to application: SupervisedApplication
    ) {
        application.components.wakes.record.notifications.recordDelivery(of: due, number: number)
        let place = due.isLate ? ", later than its time" : ""
        application.log("the notification \(due.request.identifier) is shown\(place)")
        if let badge = due.request.content.badge { setBadge(badge, of: application) }
        application.saveWakes()
    }

    func perform(_ request: DesktopRequest, for application: SupervisedApplication) {
        switch request {
        case .showProgress(let work, let name): show(work, named: name, of: application)
        case .withdrawProgress(let number, let work):
            withdrawProgress(number, work: work, of: application.identifier)
        case .withdrawNotifications(let identifiers):
            application.components.wakes.record.notifications.withdraw(
                identifiers,
                of: application.identifier,
                from: notificationsInterface,
                on: session?.connection
            )
        case .setBadge(let badge): setBadge(badge, of: application)
        case .registerForMessages: registerForMessages(of: application)
        case .unregisterFromMessages: unregisterFromMessages(of: application)
        case .updateLocation: updateLocation()
        }
    }

    /// Sets the number at an application's icon.
    private func setBadge(_ badge: UInt32, of application: SupervisedApplication) {
        application.components.wakes.record.notifications.badge = badge
        application.log("badge \(badge)")
        if let bus = session?.connection { LauncherEntry.show(badge, of: application.identifier, on: bus) }
    }

    // MARK: Responses

    /// Passes a click to the application whose notification it was.
    func respond(to response: NotificationInterface.Response) {
        for application in applications {
            let identifier = application.identifier
            let view = application.view
            guard let effects = application.components.work.respond(to: response, of: identifier, in: view) else {
                continue
            }
            return application.perform(effects)
        }
        for application in applications {
            let notifications = application.components.wakes.record.notifications
            guard let entry = notifications.delivered(response, of: application.identifier) else { continue }
            if !response.isClosed { respond(to: entry, action: response.action, of: application) }
            application.components.wakes.record.notifications.delivered.removeAll { $0 == entry }
            return application.saveWakes()
        }
    }

    /// Brings the application to the foreground with the response of the user, or launches it.
    private func respond(
        to delivered: NotificationTable.Delivered,
        action: String,
        of application: SupervisedApplication
    ) {
        let response = NotificationResponseMessage(
            identifier: delivered.request.identifier,
            action: String(decoding: action.utf8.prefix(200), as: UTF8.self),
            userInfo: delivered.request.content.userInfo,
            date: delivered.date - supervisor.context.clock.now.offset
        )
        application.log("the user has responded to the notification \(response.identifier)")
        launch(application, for: .notificationResponse(response.identifier), with: .response(response))
    }

    /// Brings an application to the foreground, and tells it why: at once if it runs, else behind the launch.
    func launch(_ application: SupervisedApplication, for reason: LaunchReason, with reply: WakeReply) {
        let effects: [ApplicationEffect] = [.send(.wakes(reply)), .request(.launch(reason))]
        application.perform(application.process == nil ? effects.reversed() : effects)
    }
}
