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
    /// Passes a wake to the handler of its task, or to the delegate, and waits for the result.
    func perform(_ reason: WakeReason, for application: Application) async -> BackgroundWake.Result {
        guard [.fetch, .processing].contains(reason.kind), !reason.session.isEmpty else {
            return await self.application(application, performWake: BackgroundWake(reason))
        }
        guard let handler = application.wakeCenter.handler(for: reason.session) else { return .failed }
        return await handler() ? .newData : .failed
    }
}
