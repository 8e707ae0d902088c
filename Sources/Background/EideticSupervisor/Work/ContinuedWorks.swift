import EideticCore
package import EideticDBus
import EideticLifecycle
package import EideticSupervision

/// The work that the user has started in an application: it begins in the foreground, shows its progress, and can be
/// cancelled.
package struct ContinuedWorks: ApplicationComponent {
    private static let countLimit = 8
    /// The pause after which a notification is shown again that the server has not taken.
    private static let notificationPause: Duration = .seconds(10)

    private let progressLimit: Duration
    /// The work, by the identifiers of the application.
    private var works: [String: ContinuedWork] = [:]
    /// A Boolean value indicating whether an earlier supervisor has accepted work of the process, which it may name
    /// again.
    package var resumes = false
    /// The time since which the process asserts work, and has named none.
    private var unnamedSince: Duration?
    /// The numbers of the notifications that an earlier supervisor has shown, by the work's identifiers.
    package var strays: [String: UInt32] = [:]

    /// Creates the component, with the time without progress after which work is stopped in the background.
    package init(progressLimit: Duration) { self.progressLimit = progressLimit }

    package var deadline: Duration? {
        let starts = works.values.map(\.progressTime) + [unnamedSince]
        let ends = starts.map { $0.map { $0 + progressLimit } }
        return (ends + works.values.map(\.notification.retryTime)).compactMap(\.self).min()
    }

    package var isEmpty: Bool { works.isEmpty }

    // MARK: Commands of the application

    /// Obeys a command of the application; other components obey the rest.
    package mutating func obey(_ command: WakeCommand, in view: ApplicationView) -> [ApplicationEffect] {
        switch command {
        case .beginContinued(let message, let number):
            return view.refusal(of: .continued, number: number) ?? begin(message, number: number, in: view)
        case .reportContinued(let identifier, let completed, let total):
            works[identifier]?.report(WorkProgress(completed: completed, total: total), at: view.now)
            return show(identifier, in: view)
        case .endContinued(let identifier): return end(identifier, in: view)
        default: return []
        }
    }

    /// Accepts work, or refuses it with the reason.
    private mutating func begin(
        _ message: ContinuedWorkMessage,
        number: UInt64,
        in view: ApplicationView
    ) -> [ApplicationEffect] {
        let accepted = ApplicationEffect.send(.wakes(.task(nil, number: number)))
        // The application names it again when it has lost the connection.
        guard let process = view.process, works[message.identifier] == nil else { return [accepted] }
        // The user can have started something.
        let isUsed = [.launching, .inactive, .active].contains(view.lifecycle.reachedState)
        guard isUsed || message.isResumed && resumes else {
            let reason = "is to go on in the background, but was not begun in the foreground"
            return [
                .log("refused: \(message.title) \(reason)"),
                .send(.wakes(.task(.notInForeground, number: number))),
            ]
        }
        guard works.count < Self.countLimit else {
            return [.send(.wakes(.task(.tooManyPendingTaskRequests, number: number)))]
        }
        works[message.identifier] = ContinuedWork(message, shownAs: strays.removeValue(forKey: message.identifier))
        // Recorded before the answer, for a supervisor that follows.
        return [.handle(.assertionChanged(.continued, isHeld: true, process: process.identity)), accepted]
    }

    private mutating func end(_ identifier: String, in view: ApplicationView) -> [ApplicationEffect] {
        guard let work = works.removeValue(forKey: identifier) else { return [] }
        return withdraw(work, named: identifier, in: view) + (works.isEmpty ? dropAssertion(in: view) : [])
    }

    private mutating func dropAssertion(in view: ApplicationView) -> [ApplicationEffect] {
        resumes = false
        let effects = withdrawStrays(in: view)
        guard let process = view.process else { return effects }
        return effects + [.handle(.assertionChanged(.continued, isHeld: false, process: process.identity))]
    }

    /// Ends work against the will of the application, whose background time counts again.
    private mutating func stop(
        _ identifier: String,
        because reason: String,
        in view: ApplicationView
    ) -> [ApplicationEffect] {
        guard let work = works[identifier] else { return [] }
        return [
            .log("\(work.title) is stopped: \(reason)"),
            .send(.wakes(.stopContinued(identifier, reason: reason))),
        ] + end(identifier, in: view)
    }

    /// Withdraws the notifications of a process that has ended, or is left alone.
    package mutating func endAll(in view: ApplicationView) -> [ApplicationEffect] {
        let ended = works
        works = [:]
        resumes = false
        unnamedSince = nil
        return ended.flatMap { withdraw($1, named: $0, in: view) } + withdrawStrays(in: view)
    }

    // MARK: Progress

    package mutating func handle(_ change: ApplicationChange, in view: ApplicationView) -> [ApplicationEffect] {
        guard let process = view.process else { return change == .processChanged ? endAll(in: view) : [] }
        if change == .processChanged {
            works = [:]
            resumes = false
            unnamedSince = nil
            return []
        }
        if works.isEmpty { return dropUnfoundedAssertion(in: view) }
        unnamedSince = nil
        let isWatched = view.lifecycle.isInBackground && !process.isSuspended
        var effects = watch(isWatched, in: view)
        for (identifier, work) in works where work.progressTime.map({ $0 + progressLimit <= view.now }) ?? false {
            let reason = "it has made no progress for \(progressLimit.inSeconds) s"
            effects += stop(identifier, because: reason, in: view)
        }
        for (identifier, work) in works where work.notification.retryTime.map({ $0 <= view.now }) ?? false {
            work.notification.retryTime = nil
            effects += show(identifier, in: view)
        }
        return effects
    }

    /// Waits for progress while the application is in the background.
    private mutating func watch(_ isWatched: Bool, in view: ApplicationView) -> [ApplicationEffect] {
        var effects: [ApplicationEffect] = []
        for (identifier, work) in works where (work.progressTime != nil) != isWatched {
            works[identifier]?.progressTime = isWatched ? view.now : nil
            if isWatched {
                effects += show(identifier, in: view)
            } else if !view.lifecycle.isInBackground {
                effects += withdraw(work, named: identifier, in: view)
                works[identifier]?.renewNotification()
            }
        }
        return effects
    }

    /// Does not believe a process of an earlier supervisor that asserts work without naming any.
    private mutating func dropUnfoundedAssertion(in view: ApplicationView) -> [ApplicationEffect] {
        guard view.lifecycle.stay.assertions.contains(.continued) else {
            unnamedSince = nil
            return []
        }
        let since = unnamedSince ?? view.now
        unnamedSince = since
        guard view.now >= since + progressLimit else { return [] }
        unnamedSince = nil
        let text = "work of an earlier supervisor was not named for \(progressLimit.inSeconds) s"
        return [.log(text)] + dropAssertion(in: view)
    }

    /// Returns the lines for `eidetic app why`.
    package func lines(at now: Duration) -> [String] {
        works.values.sorted { $0.title < $1.title }.map { work in
            let end = work.progressTime.map { $0 + progressLimit - now }
            let seconds = end.map { Int(max(.zero, $0).inSeconds.rounded(.up)) }
            let limit = seconds.map { ", stopped in \($0) s without progress" } ?? ""
            return "continues what the user has started: \(work.title), \(work.percent) %\(limit)"
        }
    }

    // MARK: Notifications

    /// The numbers of the notifications on the screen, for another supervisor.
    package var shownNumbers: [String: UInt32] {
        let shown = works.filter(\.value.notification.wasShown).mapValues(\.notification.number)
        return strays.merging(shown) { $1 }
    }

    /// Shows all work, as there is another connection to the bus.
    package mutating func showAll(in view: ApplicationView) -> [ApplicationEffect] {
        guard view.process != nil else { return withdrawStrays(in: view) }
        return works.flatMap { identifier, work in
            work.notification.reset()
            return show(identifier, in: view)
        }
    }

    /// Shows the progress of work in the background, unless the screen shows it already.
    private func show(_ identifier: String, in view: ApplicationView) -> [ApplicationEffect] {
        guard view.hasBus, let work = works[identifier], work.beginToShow() else { return [] }
        return [.desktop(.showProgress(of: work, named: identifier))]
    }

    /// Records the answer of the server that was asked to show progress.
    ///
    /// - Parameters:
    ///   - number: The number of the notification; `nil` if the server has refused it.
    ///   - work: The work, as it was shown.
    ///   - identifier: The identifier of the work.
    ///   - view: The application.
    /// - Returns: What follows: newer progress is shown, and the notification of work that has ended is withdrawn.
    package func recordAnswer(
        _ number: UInt32?,
        to work: ContinuedWork,
        named identifier: String,
        in view: ApplicationView
    ) -> [ApplicationEffect] {
        work.notification.record(number, retryTime: view.now + Self.notificationPause)
        if work.notification.isUnwanted { return withdraw(work, named: identifier, in: view) }
        return show(identifier, in: view)
    }

    private func withdraw(
        _ work: ContinuedWork,
        named identifier: String,
        in view: ApplicationView
    ) -> [ApplicationEffect] {
        work.notification.isUnwanted = true
        guard work.notification.isOnScreen, view.hasBus else { return [] }
        return [.desktop(.withdrawProgress(work.notification.number, work: identifier))]
    }

    /// Withdraws the notifications of an earlier supervisor whose work nobody has named.
    private mutating func withdrawStrays(in view: ApplicationView) -> [ApplicationEffect] {
        guard view.hasBus else { return [] }
        defer { strays = [:] }
        return strays.map { .desktop(.withdrawProgress($1, work: $0)) }
    }

    /// Obeys a click on a notification of progress.
    ///
    /// - Returns: What is to be done; `nil` if the notification is none of this application.
    package mutating func respond(
        to response: NotificationInterface.Response,
        of application: String,
        in view: ApplicationView
    ) -> [ApplicationEffect]? {
        let found = works.first { identifier, work in
            switch response.reference {
            case .number(let number): work.notification.number == number && number != 0
            case .name(let name):
                name == NotificationInterface.portalName(ofWork: identifier, application: application)
            }
        }
        guard let (identifier, work) = found else { return nil }
        if response.isClosed {
            work.notification.isUnwanted = true
            return []
        }
        guard response.action == ProgressNotification.cancelAction else { return [.request(.launch(.user))] }
        return stop(identifier, because: "the user has cancelled it", in: view)
    }
}
