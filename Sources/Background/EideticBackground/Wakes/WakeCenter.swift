import EideticCore
import EideticLifecycle
import EideticSupervision
import Glibc

/// The requests of the application for wakes and notifications, and those who wait for answers.
final class WakeCenter: Sendable {
    /// A request, and the socket that it brings along.
    struct Request {
        let command: WakeCommand
        var descriptor: KeptDescriptor?
    }

    /// Work that the user has started, and the means to cancel it.
    private struct ContinuedEntry {
        var message: ContinuedWorkMessage
        var isAccepted = false
        var isStopped = false
        var progress: WorkProgress?
        var cancel: (@Sendable () -> Void)?
    }

    private struct State {
        var requests: [Request] = []
        var lastNumber: UInt64 = 0
        /// The requests that were sent and not answered, by their numbers.
        var unanswered: [UInt64: WakeCommand] = [:]
        var waiters: [UInt64: Waiter<WakeReply>] = [:]
        var identifiers: [UInt64: [String]] = [:]
        var handlers: [String: @MainActor @Sendable () async -> Bool] = [:]
        var sockets: [String: KeptDescriptor] = [:]
        var continued: [String: ContinuedEntry] = [:]
    }

    private let state = Guarded(State())
    private let wake: @Sendable () -> Void

    init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

    /// Adds a request that has no answer.
    func post(_ command: WakeCommand, descriptor: KeptDescriptor? = nil) {
        state.withLock { $0.requests.append(Request(command: command, descriptor: descriptor)) }
        wake()
    }

    /// Adds a request and waits for its answer.
    func request(_ command: (UInt64) -> WakeCommand) async -> WakeReply {
        let waiter = Waiter<WakeReply>()
        state.withLock { state in
            state.lastNumber += 1
            let number = state.lastNumber
            state.waiters[number] = waiter
            state.unanswered[number] = command(number)
            state.requests.append(Request(command: command(number)))
        }
        wake()
        await waiter.wait {}
        return waiter.value
    }

    /// Removes and returns the requests that were not sent.
    func takeRequests() -> [Request] {
        state.withLock { state in
            defer { state.requests = [] }
            return state.requests
        }
    }

    /// Sends the requests again that an earlier supervisor has not answered: each has the same effect twice.
    func repeatUnansweredRequests() {
        state.withLock { state in
            let known = Set(state.requests.compactMap(\.command.number))
            for (number, command) in state.unanswered.sorted(by: { $0.key < $1.key }) where !known.contains(number) {
                state.requests.append(Request(command: command.resumed))
            }
            // First, as reports that were not sent refer to it.
            state.requests.insert(contentsOf: Self.requestsToResume(state.continued), at: 0)
        }
    }

    /// Passes an answer to the task that waits for it.
    func answer(_ reply: WakeReply) {
        guard let number = reply.number else { return }
        let waiter: (Waiter<WakeReply>, WakeReply)? = state.withLock { state in
            var answer = reply
            if case .notifications(let part, _, let isLast) = reply {
                state.identifiers[number, default: []] += part
                guard isLast else { return nil }
                let all = state.identifiers.removeValue(forKey: number) ?? []
                answer = .notifications(all, number: number, isLast: true)
            }
            if case .beginContinued(let work, _)? = state.unanswered.removeValue(forKey: number),
                case .task(nil, _) = reply
            {
                state.continued[work.identifier]?.isAccepted = true
            }
            return state.waiters.removeValue(forKey: number).map { ($0, answer) }
        }
        waiter?.0.resume(returning: waiter?.1 ?? reply)
    }

    // MARK: Handlers

    func setHandler(_ handler: @escaping @MainActor @Sendable () async -> Bool, for identifier: String) {
        // The handler that was there is released without the lock.
        _ = state.withLock { $0.handlers.updateValue(handler, forKey: identifier) }
    }

    func handler(for identifier: String) -> (@MainActor @Sendable () async -> Bool)? {
        state.withLock { $0.handlers[identifier] }
    }

    // MARK: Work that the user has started

    /// Reserves an identifier; returns `false` if it is in use.
    func reserveContinued(_ message: ContinuedWorkMessage) -> Bool {
        state.withLock { state in
            guard state.continued[message.identifier] == nil else { return false }
            state.continued[message.identifier] = ContinuedEntry(message: message)
            return true
        }
    }

    /// Keeps the means to cancel the work; cancels it at once if the supervisor has stopped it already.
    func startContinued(_ identifier: String, cancel: @escaping @Sendable () -> Void) {
        let isStopped = state.withLock { state -> Bool in
            state.continued[identifier]?.cancel = cancel
            return state.continued[identifier]?.isStopped ?? true
        }
        if isStopped { cancel() }
    }

    /// Reports progress, now and to later supervisors.
    func reportContinued(_ identifier: String, progress: WorkProgress) {
        state.withLock { $0.continued[identifier]?.progress = progress }
        post(.reportContinued(identifier, completed: progress.completed, total: progress.total))
    }

    /// Returns the requests that tell another supervisor of the work that was accepted, and of its progress.
    private static func requestsToResume(_ entries: [String: ContinuedEntry]) -> [Request] {
        entries.filter(\.value.isAccepted).flatMap { identifier, entry in
            var message = entry.message
            message.isResumed = true
            let begin = Request(command: .beginContinued(message, number: 0))
            guard let progress = entry.progress else { return [begin] }
            let completed = progress.completed
            let total = progress.total
            return [begin, Request(command: .reportContinued(identifier, completed: completed, total: total))]
        }
    }

    func stopContinued(_ identifier: String) {
        let cancel = state.withLock { state -> (@Sendable () -> Void)? in
            state.continued[identifier]?.isStopped = true
            state.continued[identifier]?.isAccepted = false
            return state.continued[identifier]?.cancel
        }
        cancel?()
    }

    /// Cancels all work, because background time expires.
    func cancelContinued() { for cancel in state.withLock({ $0.continued.values.compactMap(\.cancel) }) { cancel() } }

    /// Removes work that has ended, or was not accepted.
    func removeContinued(_ identifier: String) { state.withLock { _ = $0.continued.removeValue(forKey: identifier) } }

    // MARK: Sockets

    func keep(_ socket: KeptDescriptor, named name: String) { state.withLock { $0.sockets[name] = socket } }

    func takeSocket(named name: String) -> KeptDescriptor? { state.withLock { $0.sockets.removeValue(forKey: name) } }
}

extension WakeCommand {
    /// The number to which the answer refers; `nil` if there is none.
    fileprivate var number: UInt64? {
        switch self {
        case .submit(_, let number), .addNotification(_, let number), .listNotifications(let number),
            .beginContinued(_, let number):
            number
        default: nil
        }
    }

    /// The request for another supervisor: the earlier one may have accepted the work without an answer.
    fileprivate var resumed: WakeCommand {
        guard case .beginContinued(var work, let number) = self else { return self }
        work.isResumed = true
        return .beginContinued(work, number: number)
    }
}

extension WakeReply {
    fileprivate var number: UInt64? {
        switch self {
        case .task(_, let number), .notification(_, let number), .notifications(_, let number, _): number
        default: nil
        }
    }
}

/// A descriptor that several owners share, closed with the last one.
final class KeptDescriptor: Sendable {
    let rawValue: Int32

    init(adopting number: Int32) { rawValue = number }

    deinit { close(rawValue) }
}
