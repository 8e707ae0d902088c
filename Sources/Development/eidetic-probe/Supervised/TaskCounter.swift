import EideticCore
import EideticSupervision
import Glibc
import EideticLifecycle

/// The number of open tasks, published on the shared page.
final class TaskCounter: Sendable {
    private struct State {
        var count = 0
        var page: SharedPage?
        var socket: PacketSocket?
    }

    private let state = Guarded(State())

    /// Uses a page and a connection from now on.
    func connect(page: SharedPage, socket: PacketSocket) {
        state.withLock { state in
            state.page = page
            state.socket = socket
            page.taskWords.publish(openTasks: state.count)
        }
    }

    var count: Int { state.withLock { $0.count } }

    /// Opens a task; returns `false` if none may start.
    func begin() -> Bool {
        state.withLock { state in
            guard let page = state.page, page.taskWords.phase.admitsTasks else { return false }
            state.count += 1
            page.taskWords.publish(openTasks: state.count)
            // The phase may have changed before the supervisor could see the count.
            if page.taskWords.phase.admitsTasks { return true }
            state.count -= 1
            page.taskWords.publish(openTasks: state.count)
            return false
        }
    }

    /// Closes a task, and reports the last one outside the foreground.
    func end() {
        let socket = state.withLock { state -> PacketSocket? in
            state.count -= 1
            guard let page = state.page else { return nil }
            page.taskWords.publish(openTasks: state.count)
            return state.count == 0 && page.taskWords.phase != .foreground ? state.socket : nil
        }
        _ = try? socket?.send(WireWriter.encode(ApplicationMessage.idle))
    }
}
