import EideticDBus
import EideticCore
import EideticLifecycle
import EideticSupervision

// Local notifications, their responses, and the badge.
extension SupervisedApplication {
    /// The time in seconds after which a notification is shown again that no server took.
    private static let showPause: Int64 = 60
    /// The time in which a notification server answers, which the bus may have to start.
    private static let answerLimit: Duration = .seconds(10)

    func add(_ request: NotificationRequest, number: UInt64, at now: ScheduleTime) {
        if let fault = request.fault { return send(.wakes(.notification(fault: fault, number: number))) }
        guard wakeRecord.notifications.add(request, at: now) else {
            let fault = "\(NotificationTable.pendingLimit) notifications wait already"
            return send(.wakes(.notification(fault: fault, number: number)))
        }
        saveWakes()
        send(.wakes(.notification(fault: nil, number: number)))
    }

    func listNotifications(number: UInt64, at now: ScheduleTime) {
        let pending = wakeRecord.notifications.pending
        let identifiers = pending.map(\.request.identifier)
        let size = WakeCommand.identifiersPerPacket
        for start in stride(from: 0, through: max(0, identifiers.count - 1), by: size) {
            let part = Array(identifiers[start..<min(start + size, identifiers.count)])
            let isLast = start + size >= identifiers.count
            send(.wakes(.notifications(part, number: number, isLast: isLast)))
        }
    }

    // MARK: Showing

    func showDueNotifications(at now: ScheduleTime) {
        for due in wakeRecord.notifications.takeDue(at: now) { show(due, at: now) }
    }

    private func show(_ due: NotificationTable.DueNotification, at now: ScheduleTime) {
        guard let desktop = context.desktop, let bus = desktop.session?.connection else {
            return keep(due, because: context.desktop?.lines.first ?? "the supervisor has just started")
        }
        let (member, values) = desktop.notificationsInterface.call(
            for: due,
            identifier: identifier,
            name: manifest.manifest?.name ?? identifier,
            icon: manifest.manifest?.icon ?? "",
            replacing: wakeRecord.notifications.replacedNumber(for: due.request.identifier)
        )
        bus.call(member, on: desktop.notificationsInterface.target, with: values, timeout: Self.answerLimit) {
            [weak self] result in
            switch result {
            case .success(let values): self?.recordDelivery(of: due, number: values.first?.number ?? 0)
            case .failure(let error): self?.keep(due, because: "\(error)")
            }
        }
    }

    /// Keeps a notification that could not be shown, which comes again with its date.
    private func keep(_ due: NotificationTable.DueNotification, because reason: String) {
        log("the notification \(due.request.identifier) could not be shown, and is shown later: \(reason)")
        wakeRecord.notifications.keep(due, for: Self.showPause, at: context.clock.now)
        saveWakes()
    }

    private func recordDelivery(of due: NotificationTable.DueNotification, number: UInt32) {
        wakeRecord.notifications.recordDelivery(of: due, number: number)
        log("the notification \(due.request.identifier) is shown\(due.isLate ? ", later than its time" : "")")
        if let badge = due.request.content.badge { setBadge(badge) }
        saveWakes()
    }

    /// Removes notifications from the screen; all without identifiers.
    func withdrawNotifications(_ identifiers: Set<String>?) {
        let isMeant = { (entry: NotificationTable.Delivered) in
            identifiers?.contains(entry.request.identifier) ?? true
        }
        if let desktop = context.desktop, let bus = desktop.session?.connection {
            for entry in wakeRecord.notifications.delivered where isMeant(entry) {
                let (member, values) = desktop.notificationsInterface.removal(of: entry, application: identifier)
                bus.call(member, on: desktop.notificationsInterface.target, with: values)
            }
        }
        wakeRecord.notifications.delivered.removeAll(where: isMeant)
    }

    /// Sets the number at the application's icon.
    func setBadge(_ badge: UInt32) {
        wakeRecord.notifications.badge = badge
        log("badge \(badge)")
        if let bus = context.desktop?.session?.connection { LauncherEntry.show(badge, of: identifier, on: bus) }
    }

    // MARK: Responses

    /// Brings the application to the foreground with the response of the user, or launches it.
    func respond(to delivered: NotificationTable.Delivered, action: String) {
        let response = NotificationResponseMessage(
            identifier: delivered.request.identifier,
            action: String(decoding: action.utf8.prefix(200), as: UTF8.self),
            userInfo: delivered.request.content.userInfo,
            date: delivered.date - context.clock.now.offset
        )
        log("the user has responded to the notification \(response.identifier)")
        let isLaunch = process == nil
        if !isLaunch { send(.wakes(.response(response))) }
        guard handleWhenConnected(.launch(.notificationResponse(response.identifier))) else { return }
        if isLaunch { send(.wakes(.response(response))) }
    }
}

extension DesktopServices {
    /// Passes a click to the application whose notification it was.
    func respond(to response: NotificationInterface.Response) {
        if applications.contains(where: { $0.respondToProgress(response) }) { return }
        for application in applications {
            let entry = application.wakeRecord.notifications.delivered.last { entry in
                switch response.reference {
                case .number(let number): entry.number == number && number != 0
                case .name(let name):
                    NotificationInterface.portalName(
                        of: entry.request.identifier,
                        application: application.identifier
                    ) == name
                }
            }
            guard let entry else { continue }
            if !response.isClosed { application.respond(to: entry, action: response.action) }
            application.wakeRecord.notifications.delivered.removeAll { $0 == entry }
            return application.saveWakes()
        }
    }
}
