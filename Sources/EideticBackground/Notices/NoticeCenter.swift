import EideticCore

/// Who wants which notices, and what waits for a suspended application.
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
    }

    private let state = Guarded(State())
    /// The most notices that one observer's `hold` keeps.
    package static let holdLimit = 64

    package init() {}

    package func stream(for name: Notice.Name, behavior: SuspensionBehavior) -> AsyncStream<Notice> {
        let broadcast = Broadcast<Notice>(name: "notice observer")
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

    /// From now on notices wait.
    package func suspend() { state.withLock { $0.isSuspended = true } }

    /// Delivers what waited, each observer's in the order of last change.
    package func resume() {
        let waiting = state.withLock { state in
            state.isSuspended = false
            return state.observers.indices.map { index in
                defer { state.observers[index].heldNotices = [] }
                return (state.observers[index].broadcast, state.observers[index].heldNotices)
            }
        }
        for (broadcast, notices) in waiting { for notice in notices { broadcast.post(notice) } }
    }
}

extension Application {
    /// Notices of one name from now on, with the behaviour that they have while the application is suspended.
    ///
    /// A new stream for each caller. On return what waited is handed over before any callback; a consumer may still be at
    /// it when the callback comes. The system's own names are listed at ``Notice/Name``; they come while the application
    /// is started.
    public func notices(
        named name: Notice.Name,
        suspensionBehavior: SuspensionBehavior = .coalesce
    ) -> AsyncStream<Notice> {
        let stream = noticeCenter.stream(for: name, behavior: suspensionBehavior)
        noticeSources.subscribe(to: name)
        inbox.wake()
        return stream
    }

    /// Tells all who observe the notice's name.
    public func post(_ notice: Notice) { noticeCenter.post(notice) }
}
