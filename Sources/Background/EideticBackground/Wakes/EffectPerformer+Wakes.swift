import EideticCore
import EideticLifecycle
import EideticSupervision
import Glibc

extension EffectPerformer {
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
    /// Passes a wake to the method for its kind, and waits for the result.
    func perform(_ reason: WakeReason, for application: Application) async -> BackgroundWake.Result {
        let result: BackgroundWake.Result?
        switch reason.kind {
        case .fetch where reason.session.isEmpty:
            result = await completion(in: application) { handler in
                self.application(application, performFetchWithCompletionHandler: handler)
            }
        case .fetch, .processing:
            guard let handler = application.wakeCenter.handler(for: reason.session) else { return .failed }
            return await handler() ? .newData : .failed
        case .push:
            let notification = RemoteNotification(payload: reason.payload)
            result = await completion(in: application) { handler in
                self.application(
                    application,
                    didReceiveRemoteNotification: notification,
                    fetchCompletionHandler: handler
                )
            }
        default: result = nil
        }
        if let result { return result }
        return await self.application(application, performWake: BackgroundWake(reason))
    }

    /// Calls a method with a completion handler and waits until that is called; `nil` if the delegate does not have the
    /// method.
    private func completion(
        in application: Application,
        calling body: (@escaping @MainActor @Sendable (BackgroundWake.Result) -> Void) -> Void
    ) async -> BackgroundWake.Result? {
        let waiter = Waiter<BackgroundWake.Result>()
        application.isWakeLeftToDelegate = false
        // A second call of the handler has no effect.
        body { result in waiter.resume(returning: result) }
        if application.isWakeLeftToDelegate { return nil }
        // An expiration does not complete the wake: the delegate has to.
        await waiter.wait {}
        return waiter.value
    }
}
