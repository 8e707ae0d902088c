import EideticBackground
import EideticCore
import EideticLifecycle
import Testing

@Suite("Background task table")
struct BackgroundTaskTableTests {
    @Test("B03 tasks end in any order, and ending one twice has no effect")
    func nesting() {
        let table = BackgroundTaskTable {}
        let tasks = (0..<5).map { table.begin("task \($0)", handler: .none) }
        #expect(Set(tasks).count == 5 && !tasks.contains(0))
        for task in [tasks[3], tasks[0], tasks[4]] { #expect(table.end(task)) }
        #expect(table.count == 2)
        #expect(!table.end(tasks[3]))
        #expect(table.count == 2)
        #expect(table.names == ["task 1", "task 2"])
    }

    @Test("B03 an old identifier does not end the task that reuses its slot")
    func reuse() {
        let table = BackgroundTaskTable {}
        let old = table.begin("old", handler: .none)
        table.end(old)
        let new = table.begin("new", handler: .none)
        #expect(new != old)
        #expect(!table.end(old))
        #expect(table.count == 1)
        for strange in [0, 1, .max, new + 1, new ^ (1 << 40)] as [UInt64] { #expect(!table.end(strange)) }
        #expect(table.end(new))
    }

    @Test("B04 no task can be opened during expiration or termination", arguments: [TaskPhase.expiring, .terminating])
    func refuses(phase: TaskPhase) {
        let table = BackgroundTaskTable {}
        table.setPhase(phase, deadline: nil)
        #expect(table.begin("late", handler: .none) == 0)
        table.setPhase(.background, deadline: .seconds(9))
        #expect(table.begin("in time", handler: .none) != 0)
        #expect(table.deadline == .seconds(9))
    }

    @Test("B03 the table closes only without open tasks, and then admits none")
    func gate() {
        let table = BackgroundTaskTable {}
        let task = table.begin("open", handler: .none)
        #expect(!table.closeIfIdle())
        table.end(task)
        #expect(table.closeIfIdle())
        #expect(table.begin("late", handler: .none) == 0)
    }

    @Test("B04 a task is open until it is ended, and no other identifier refers to it")
    func isOpen() {
        let table = BackgroundTaskTable {}
        let task = table.begin("a", handler: .none)
        #expect(table.isOpen(task) && !table.isOpen(0) && !table.isOpen(task + 1) && !table.isOpen(.max))
        table.end(task)
        #expect(!table.isOpen(task))
        _ = table.begin("b", handler: .none)
        #expect(!table.isOpen(task))
    }

    @Test("B04 each handler is returned once")
    func handlersOnce() {
        let table = BackgroundTaskTable {}
        _ = table.begin("a", handler: .anyThread {})
        #expect(table.removeHandlers().count == 1)
        let again = table.removeHandlers()
        #expect(again.allSatisfy { if case .none = $0.handler { true } else { false } })
    }

    @Test("B04 the task of an observer holds the process, but is not among the names")
    func observers() {
        let table = BackgroundTaskTable {}
        let calls = Guarded<[String]>([])
        let observer = table.begin("state observer", handler: .observer { calls.withLock { $0.append("observer") } })
        _ = table.begin("upload", handler: .anyThread { calls.withLock { $0.append("upload") } })
        #expect(table.count == 2 && table.names == ["upload"] && table.observerNames == ["state observer"])
        table.expireObservers()
        table.expireObservers()
        #expect(calls.withLock { $0 } == ["observer"])
        table.end(observer)
        _ = table.begin("flush", handler: .none)
        #expect(table.names == ["flush", "upload"] && table.observerNames.isEmpty)
    }

    @Test("B04 handlers are returned in the order in which their tasks were opened, not that of reused slots")
    func order() {
        let table = BackgroundTaskTable {}
        let early = ["x", "y", "z"].map { table.begin($0, handler: .none) }
        let first = table.begin("first", handler: .none)
        for task in early { table.end(task) }
        let later = ["second", "third"].map { table.begin($0, handler: .none) }
        #expect(table.removeHandlers().map(\.identifier) == [first] + later)
    }

    @Test("B03 the count is exact with several threads")
    func threads() async {
        let table = BackgroundTaskTable {}
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<5_000 {
                        let outer = table.begin("outer", handler: .none)
                        table.end(table.begin("inner", handler: .none))
                        table.end(outer)
                    }
                }
            }
        }
        #expect(table.count == 0)
        #expect(table.names.isEmpty)
    }

    @Test("B03 the host is notified of the first opened and the last ended task, outside the foreground only")
    func changes() {
        let calls = Guarded(0)
        let table = BackgroundTaskTable { calls.withLock { $0 += 1 } }
        table.end(table.begin("seen", handler: .none))
        #expect(calls.withLock { $0 } == 0)
        table.setPhase(.background, deadline: nil)
        let first = table.begin("a", handler: .none)
        let second = table.begin("b", handler: .none)
        table.end(first)
        #expect(calls.withLock { $0 } == 1)
        table.end(second)
        #expect(calls.withLock { $0 } == 2)
    }
}
