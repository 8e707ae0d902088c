import EideticCore
import EideticLifecycle

/// The observers of notices, and the notices that are held for a suspended application.
package final class NoticeCenter: Sendable {
    private struct Observer: Sendable {
        let name: Notice.Name
        let behavior: SuspensionBehavior
        let broadcast: Broadcast<Notice>
        var heldNotices: [Notice] = []
    }

    private struct State {
        var observers: [Observer] = []
        var isSuspended = false
        /// A Boolean value indicating whether a callback waits for the observers of held notices.
        var hasDelivered = false
    }

    private let state = Guarded(State())
    /// The observers that have not yet handled a notice: of those that were held, all, before a callback follows.
    let pendingObservers: BackgroundTaskTable
    /// The largest number of notices that `hold` keeps per observer.
    package static let holdLimit = 64

    /// Creates a center; `observersDidFinish` is called when the last observer has handled what was held for it.
    package init(observersDidFinish: @escaping @Sendable () -> Void = {}) {
        pendingObservers = BackgroundTaskTable(openCountDidChange: observersDidFinish)
    }

    package func stream(for name: Notice.Name, behavior: SuspensionBehavior) -> AsyncStream<Notice> {
        let broadcast = Broadcast<Notice>(name: "notice observer", holdingTasksIn: pendingObservers)
        let stream = broadcast.stream()
        state.withLock { state in
            state.observers.removeAll { $0.broadcast.isAbandoned }
            state.observers.append(Observer(name: name, behavior: behavior, broadcast: broadcast))
        }
        return stream
    }

    package func post(_ notice: Notice) {
        let now = state.withLock { state in
            var now: [Broadcast<Notice>] = []
            for index in state.observers.indices where state.observers[index].name == notice.name {
                let waits = state.isSuspended && state.observers[index].behavior != .deliverImmediately
                if waits {
                    Self.hold(notice, for: &state.observers[index])
                } else {
                    now.append(state.observers[index].broadcast)
                }
            }
            return now
        }
        for broadcast in now { broadcast.post(notice) }
    }

    private static func hold(_ notice: Notice, for observer: inout Observer) {
        switch observer.behavior {
        case .drop, .deliverImmediately: return
        case .hold:
            observer.heldNotices.append(notice)
            guard observer.heldNotices.count > holdLimit else { return }
            observer.heldNotices.removeFirst()
            observer.heldNotices[0].isPrecededByLoss = true
        case .coalesce:
            var merged = notice
            if let index = observer.heldNotices.firstIndex(where: { $0.object == notice.object }) {
                merged.coalescedCount += observer.heldNotices.remove(at: index).coalescedCount
            }
            observer.heldNotices.append(merged)
        }
    }

    /// Holds notices from now on.
    package func suspend() { state.withLock { $0.isSuspended = true } }

    /// Delivers the notices that were held, per observer in the order of their last change.
    ///
    /// A callback waits until ``isSettled``, or until ``settle()`` was called for observers that took too long.
    package func resume() {
        // An observer that has stopped consuming is not waited for.
        pendingObservers.expireObservers()
        // Not in the foreground: the last observer that finishes is then announced.
        pendingObservers.setPhase(.background, deadline: nil)
        let waiting = state.withLock { state in
            state.isSuspended = false
            state.hasDelivered = true
            return state.observers.indices.map { index in
                defer { state.observers[index].heldNotices = [] }
                return (state.observers[index].broadcast, state.observers[index].heldNotices)
            }
        }
        for (broadcast, notices) in waiting { for notice in notices { broadcast.post(notice) } }
    }

    /// A Boolean value indicating whether every observer of held notices has handled them, and requested the next one.
    package var isSettled: Bool { !state.withLock { $0.hasDelivered } || pendingObservers.count == 0 }

    /// Waits for no observer any more.
    package func settle() {
        let hasDelivered = state.withLock { state in
            defer { state.hasDelivered = false }
            return state.hasDelivered
        }
        guard hasDelivered else { return }
        pendingObservers.setPhase(.foreground, deadline: nil)
        pendingObservers.expireObservers()
    }
}
