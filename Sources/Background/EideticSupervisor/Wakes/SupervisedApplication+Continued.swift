import EideticDBus
import EideticCore
import EideticLifecycle
import EideticSupervision

// Work that the user has started: it begins in the foreground, shows its progress, and can be cancelled.
extension SupervisedApplication {
    private static let continuedWorkLimit = 8
    private static let answerLimit: Duration = .seconds(10)
    /// The pause after which a notification is shown again that the server has not taken.
    private static let notificationPause: Duration = .seconds(10)

    /// Accepts work, or refuses it with the reason.
    func beginContinued(_ message: ContinuedWorkMessage, number: UInt64, from process: RunningProcess) {
        guard declares(.continued, number: number) else { return }
        // The application names it again when it has lost the connection.
        guard process.continuedWork[message.identifier] == nil else {
            return send(.wakes(.task(nil, number: number)))
        }
        guard isUsed || message.isResumed && process.resumesWork else {
            log("refused: \(message.title) is to go on in the background, but was not begun in the foreground")
            return send(.wakes(.task(.notInForeground, number: number)))
        }
        guard process.continuedWork.count < Self.continuedWorkLimit else {
            return send(.wakes(.task(.tooManyPendingTaskRequests, number: number)))
        }
        let work = ContinuedWork(message)
        if let number = strayProgress.removeValue(forKey: message.identifier) {
            (work.notification.number, work.notification.wasShown) = (number, true)
        }
        process.continuedWork[message.identifier] = work
        // Recorded before the answer, for a supervisor that follows.
        handle(.assertionChanged(.continued, isHeld: true, process: process.identity))
        send(.wakes(.task(nil, number: number)))
    }

    /// A Boolean value indicating whether the user can have started something.
    private var isUsed: Bool { [.launching, .inactive, .active].contains(lifecycle.reachedState) }

    func reportContinued(_ identifier: String, completed: UInt64, total: UInt64, from process: RunningProcess) {
        process.continuedWork[identifier]?.report(WorkProgress(completed: completed, total: total), at: Clock.now)
        show(identifier, of: process)
    }

    /// Ends work that the application has completed.
    func endContinued(_ identifier: String, of process: RunningProcess) {
        guard let work = process.continuedWork.removeValue(forKey: identifier) else { return }
        withdraw(work, named: identifier)
        guard process.continuedWork.isEmpty else { return }
        dropWorkAssertion(of: process)
    }

    private func dropWorkAssertion(of process: RunningProcess) {
        process.resumesWork = false
        withdrawStrayProgress()
        handle(.assertionChanged(.continued, isHeld: false, process: process.identity))
    }

    /// Ends work against the will of the application, whose background time counts again.
    private func stopContinued(_ identifier: String, because reason: String) {
        guard let process, let work = process.continuedWork[identifier] else { return }
        log("\(work.title) is stopped: \(reason)")
        send(.wakes(.stopContinued(identifier, reason: reason)))
        endContinued(identifier, of: process)
    }

    /// Withdraws the notifications of a process that has ended.
    func endContinuedWork(of ended: RunningProcess) {
        for (identifier, work) in ended.continuedWork { withdraw(work, named: identifier) }
        ended.continuedWork = [:]
        withdrawStrayProgress()
    }

    // MARK: Progress

    /// Waits for progress while the application is in the background, and stops what makes none.
    func followContinued(at now: Duration) {
        guard let process else { return }
        let isWatched = lifecycle.isInBackground && process.suspensionTime == nil
        for (identifier, work) in process.continuedWork where (work.progressTime != nil) != isWatched {
            process.continuedWork[identifier]?.progressTime = isWatched ? now : nil
            if isWatched { show(identifier, of: process) } else if !lifecycle.isInBackground { hide(identifier) }
        }
        let limit = context.configuration.progressLimit
        for (identifier, work) in process.continuedWork {
            guard let time = work.progressTime, time + limit <= now else { continue }
            stopContinued(identifier, because: "it has made no progress for \(limit.inSeconds) s")
        }
        showRefusedNotifications(of: process, at: now)
        dropUnfoundedAssertion(of: process, at: now)
    }

    /// Does not believe a process of an earlier supervisor that asserts work without naming any.
    private func dropUnfoundedAssertion(of process: RunningProcess, at now: Duration) {
        guard process.continuedWork.isEmpty, lifecycle.heldAssertions.contains(.continued) else {
            return process.unnamedWorkSince = nil
        }
        let since = process.unnamedWorkSince ?? now
        process.unnamedWorkSince = since
        let limit = context.configuration.progressLimit
        guard now >= since + limit else { return }
        log("work of an earlier supervisor was not named for \(limit.inSeconds) s")
        dropWorkAssertion(of: process)
    }

    /// The time of the next ``followContinued(at:)``; `nil` if only a message can change anything.
    var continuedCheck: Duration? {
        guard let process else { return nil }
        let works = process.continuedWork.values
        let starts = works.map(\.progressTime) + [process.unnamedWorkSince]
        let ends = starts.map { $0.map { $0 + context.configuration.progressLimit } }
        return (ends + works.map(\.notification.retryTime)).compactMap(\.self).min()
    }

    /// The lines for `eidetic app why`.
    var continuedLines: [String] {
        let works = process?.continuedWork.values.sorted { $0.title < $1.title } ?? []
        return works.map { work in
            let end = work.progressTime.map { $0 + context.configuration.progressLimit - Clock.now }
            let seconds = end.map { Int(max(.zero, $0).inSeconds.rounded(.up)) }
            let limit = seconds.map { ", stopped in \($0) s without progress" } ?? ""
            return "continues what the user has started: \(work.title), \(work.percent) %\(limit)"
        }
    }

    // MARK: Notifications

    /// Shows all work whose progress the screen does not show, because there was no connection to the bus.
    func showContinuedWork() {
        guard let process else { return withdrawStrayProgress() }
        for (identifier, work) in process.continuedWork {
            // The server may be another one.
            (work.notification.retryTime, work.notification.shownPercent) = (nil, -1)
            show(identifier, of: process)
        }
    }

    private func showRefusedNotifications(of process: RunningProcess, at now: Duration) {
        for (identifier, work) in process.continuedWork {
            guard let time = work.notification.retryTime, time <= now else { continue }
            work.notification.retryTime = nil
            show(identifier, of: process)
        }
    }

    /// Shows the progress of work in the background, unless the screen shows it already.
    private func show(_ identifier: String, of process: RunningProcess) {
        guard let work = process.continuedWork[identifier], work.progressTime != nil, let desktop = context.desktop,
            let bus = desktop.session?.connection, case let notification = work.notification,
            !notification.isUnderWay, !notification.isUnwanted, notification.shownPercent != work.percent,
            notification.retryTime == nil
        else { return }
        (notification.isUnderWay, notification.shownPercent) = (true, work.percent)
        let progress = ProgressNotification(
            identifier: self.identifier,
            name: manifest.manifest?.name ?? self.identifier,
            icon: manifest.manifest?.icon ?? "",
            title: work.title,
            text: work.subtitle,
            percent: work.percent,
            work: identifier
        )
        let (member, values) = desktop.notificationsInterface.call(for: progress, replacing: notification.number)
        bus.call(member, on: desktop.notificationsInterface.target, with: values, timeout: Self.answerLimit) {
            [weak self, weak process] result in
            notification.record(result, retryTime: Clock.now + Self.notificationPause)
            guard let self else { return }
            self.saveRecord()
            if notification.isUnwanted { return self.withdraw(work, named: identifier) }
            if let process { self.show(identifier, of: process) }
        }
    }

    private func hide(_ identifier: String) {
        guard let work = process?.continuedWork[identifier] else { return }
        withdraw(work, named: identifier)
        process?.continuedWork[identifier]?.notification = ContinuedWork.Notification()
    }

    private func withdraw(_ work: ContinuedWork, named identifier: String) {
        let notification = work.notification
        notification.isUnwanted = true
        guard notification.wasShown, !notification.isUnderWay else { return }
        _ = withdrawProgress(notification.number, of: identifier)
    }

    /// Withdraws a notification; returns `false` without a connection to the bus.
    private func withdrawProgress(_ number: UInt32, of work: String) -> Bool {
        guard let desktop = context.desktop, let bus = desktop.session?.connection else { return false }
        let (member, values) = desktop.notificationsInterface.removal(
            ofWork: work,
            number: number,
            application: identifier
        )
        bus.call(member, on: desktop.notificationsInterface.target, with: values)
        return true
    }

    /// Withdraws the notifications of an earlier supervisor whose work nobody has named.
    private func withdrawStrayProgress() {
        strayProgress = strayProgress.filter { !withdrawProgress($1, of: $0) }
    }

    /// The numbers of the notifications on the screen, for another supervisor.
    var shownProgress: [String: UInt32] {
        let shown = process?.continuedWork.filter(\.value.notification.wasShown).mapValues(\.notification.number)
        return strayProgress.merging(shown ?? [:]) { $1 }
    }

    /// Obeys a click on a notification of progress; returns `false` if it is none of this application.
    func respondToProgress(_ response: NotificationInterface.Response) -> Bool {
        let found = process?.continuedWork.first { identifier, work in
            switch response.reference {
            case .number(let number): work.notification.number == number && number != 0
            case .name(let name):
                name == NotificationInterface.portalName(ofWork: identifier, application: self.identifier)
            }
        }
        guard let (identifier, work) = found else { return false }
        if response.isClosed {
            work.notification.isUnwanted = true
        } else if response.action == ProgressNotification.cancelAction {
            stopContinued(identifier, because: "the user has cancelled it")
        } else {
            _ = handleWhenConnected(.launch(.user))
        }
        return true
    }
}
