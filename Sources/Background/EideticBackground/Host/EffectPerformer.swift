import EideticCore
import EideticLifecycle
import EideticSupervision
import Glibc

/// The actions of the lifecycle inside the application: callbacks, expiration, notices, saved state.
///
/// Serves the stand-alone and the supervised host. Used by the lifecycle thread only.
final class EffectPerformer {
    let application: Application
    let configuration: Application.Configuration
    let delegate: (any ApplicationDelegate)?
    let inbox: EventInbox
    let serviceManager: ServiceManager
    /// The saved state of the application; `nil` if none is saved.
    var archive: StateArchive?
    /// The archive that the delegate returned, until it is saved.
    var unsavedArchive: [UInt8]?
    /// The time at which nothing waits any more for observers of the last change of state.
    private var observerDeadline: Duration?
    /// A callback that follows when the observers of held notices have finished, or after this time.
    private var postponedCallback: LifecycleCallback?
    /// The end of the time of observers of held notices; `nil` if none is waited for.
    private var noticeDeadline: Duration?
    /// The messages for the delegate that have arrived before its launch.
    var heldReplies: [WakeReply] = []
    /// The wakes that the delegate has not completed.
    let wakes = WakeTasks()

    init(
        application: Application,
        configuration: Application.Configuration,
        delegate: (any ApplicationDelegate)?,
        inbox: EventInbox
    ) {
        self.application = application
        self.configuration = configuration
        self.delegate = delegate
        self.inbox = inbox
        serviceManager = ServiceManager(isEnabled: configuration.notifiesServiceManager)
        archive = configuration.identifier.map { StateArchive(identifier: $0, directory: configuration.stateDirectory) }
    }

    /// Delivers a callback; the return to the foreground after the observers of notices that were held meanwhile.
    func deliver(_ callback: LifecycleCallback, at now: Duration) {
        if callback == .willEnterForeground, noticeDeadline != nil, !application.noticeCenter.isSettled {
            postponedCallback = callback
        } else {
            settleNotices()
            deliverNow(callback, at: now)
        }
    }

    /// Delivers the notices that were held during a suspension.
    func deliverNotices(at now: Duration) {
        application.noticeCenter.resume()
        noticeDeadline = now + configuration.rules.observerLimit
    }

    /// The time of the next call of ``checkObservers(at:)``, if any is waited for.
    var nextDeadline: Duration? {
        let hasObservers = !application.tasks.observerNames.isEmpty
        return [hasObservers ? observerDeadline : nil, noticeDeadline].compactMap(\.self).min()
    }

    /// Waits no longer for observers that have not handled a change or a notice in their time.
    ///
    /// - Returns: `true` if a callback was delivered that waited for them, and has its full time from now on.
    func checkObservers(at now: Duration) -> Bool {
        let isDelivered = checkNoticeObservers(at: now)
        if let deadline = observerDeadline, deadline <= now {
            observerDeadline = nil
            application.tasks.expireObservers()
        }
        return isDelivered
    }

    private func checkNoticeObservers(at now: Duration) -> Bool {
        guard let deadline = noticeDeadline, deadline <= now || application.noticeCenter.isSettled else { return false }
        settleNotices()
        guard let callback = postponedCallback else { return false }
        postponedCallback = nil
        deliverNow(callback, at: now)
        return true
    }

    private func settleNotices() {
        noticeDeadline = nil
        application.noticeCenter.settle()
    }

    /// Posts what the sources of notices have to report.
    func readNotices() {
        for notice in application.noticeSources.read() { application.noticeCenter.post(notice) }
    }

    /// Sets the state of the application; its observers have their time.
    func setState(_ state: ApplicationState, at now: Duration) {
        if application.setState(state) { restartObserverLimit(at: now) }
    }

    /// Starts the time of the observers of states and phases again.
    private func restartObserverLimit(at now: Duration) {
        observerDeadline = now + configuration.rules.observerLimit
    }

    private func deliverNow(_ callback: LifecycleCallback, at now: Duration) {
        switch callback {
        case .didEnterBackground: post(.background, at: now)
        case .willEnterForeground: post(.foreground, at: now)
        case .willTerminate: application.stateBroadcast.finish()
        default: break
        }
        call(callback, archive: startLaunch(with: callback))
        // Only a launch finds any.
        let replies = heldReplies
        heldReplies = []
        for reply in replies { receive(reply, descriptors: []) }
    }

    private func post(_ phase: ApplicationPhase, at now: Duration) {
        application.phaseBroadcast.post(phase)
        restartObserverLimit(at: now)
    }

    /// Returns the saved state, if the callback is a launch.
    private func startLaunch(with callback: LifecycleCallback) -> [UInt8]? {
        switch callback {
        case .launch, .launchInBackground:
            application.setPreviousExitReport(archive?.consumeReport())
            return archive?.startLaunch()
        default: return nil
        }
    }

    /// Reports readiness, and confirms that the launch did not crash.
    func finishLaunch() {
        serviceManager.reportReady()
        archive?.finishLaunch()
    }

    func saveArchive() {
        guard let bytes = unsavedArchive else { return }
        unsavedArchive = nil
        archive?.save(bytes)
    }

    func exitProcess() -> Never {
        Log.write(.info, category: .background, message: "exiting")
        ProcessExit.perform()
    }

    /// Handles an answer or a message of the supervisor that concerns wakes and notifications.
    func receive(_ reply: WakeReply, descriptors: [Int32]) {
        if application.state == .notRunning, reply.isForDelegate { return heldReplies.append(reply) }
        switch reply {
        case .task(.notPermitted?, 0):
            Log.write(.warning, category: .background, message: "refused: the background mode is not declared")
        case .task, .notification, .notifications: application.wakeCenter.answer(reply)
        case .response(let response): callDelegate { $0.application($1, didReceive: NotificationResponse(response)) }
        case .address(let address, let reason):
            callDelegate { $0.application($1, didRegisterForRemoteNotificationsWith: address, reason: reason) }
        case .stopContinued(let identifier, let reason):
            Log.write(.info, category: .background, message: "\(identifier) is stopped: \(reason)")
            application.wakeCenter.stopContinued(identifier)
        case .action(let name, let parameter):
            callDelegate { $0.application($1, performAction: name, parameter: parameter) }
        case .socket(let name):
            for number in descriptors.dropFirst() { close(number) }
            if let number = descriptors.first {
                application.wakeCenter.keep(KeptDescriptor(adopting: number), named: name)
            }
            return
        }
        for number in descriptors { close(number) }
    }

    private func callDelegate(_ body: @escaping @MainActor @Sendable (any ApplicationDelegate, Application) -> Void) {
        guard let delegate else { return }
        Task { @MainActor [application] in body(delegate, application) }
    }
}

extension WakeReply {
    fileprivate var isForDelegate: Bool {
        switch self {
        case .response, .address, .action: true
        case .task, .notification, .notifications, .socket, .stopContinued: false
        }
    }
}

extension ApplicationDelegate {
    /// Passes a wake to the handler of its task, or to the delegate, and waits for the result.
    func perform(_ reason: WakeReason, for application: Application) async -> BackgroundWake.Result {
        guard [.fetch, .processing].contains(reason.kind), !reason.session.isEmpty else {
            return await self.application(application, performWake: BackgroundWake(reason))
        }
        guard let handler = application.wakeCenter.handler(for: reason.session) else { return .failed }
        return await handler() ? .newData : .failed
    }
}
