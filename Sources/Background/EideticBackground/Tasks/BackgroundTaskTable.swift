import EideticCore
package import EideticLifecycle
package import EideticSupervision

/// The open background tasks of a process.
///
/// An array of slots with a free list, behind a lock. Opening and closing a task access nothing else, and make no
/// system call in the foreground.
package final class BackgroundTaskTable: Sendable {
    /// The handler to call when background time expires.
    package enum Handler: Sendable {
        case none
        /// Called on a thread of Eidetic.
        case anyThread(@Sendable () -> Void)
        case mainActor(@MainActor @Sendable () -> Void)
        /// Called on the lifecycle thread; must return at once. The task is that of an observer of Eidetic's streams:
        /// no name of a report.
        case observer(@Sendable () -> Void)
    }

    private struct Slot {
        /// Odd while the slot is occupied, so that an identifier refers to one task only.
        var generation: UInt32 = 0
        var name = ""
        var handler = Handler.none
        var isObserver = false
        /// The number of tasks that were opened before.
        var order: UInt64 = 0
        var nextFree: Int32 = -1

        /// Updates the whole slot in one call, because each access to the array costs a check.
        mutating func occupy(name: String, handler: Handler, order: UInt64) -> (generation: UInt32, nextFree: Int32) {
            generation &+= 1
            self.name = name
            self.handler = handler
            self.order = order
            if case .observer = handler { isObserver = true } else { isObserver = false }
            return (generation, nextFree)
        }

        /// Vacates the slot and returns its handler; `nil` if the generation is not the expected one.
        mutating func vacate(generation expected: UInt32, nextFree: Int32) -> Handler? {
            guard generation == expected, expected & 1 == 1 else { return nil }
            generation &+= 1
            self.nextFree = nextFree
            let handler = handler
            name = ""
            self.handler = .none
            return handler
        }
    }

    private struct State {
        var slots: [Slot] = []
        var firstFree: Int32 = -1
        var count = 0
        var openedCount: UInt64 = 0
        var phase = TaskPhase.foreground
        var deadline: Duration?
        /// A Boolean value indicating whether the count is published for a supervisor, which decides the phase.
        var isPublished = false
        var words: SharedPage.TaskWords?
        var page: SharedPage?

        /// Counts a task, if one is admitted.
        mutating func admitTask() -> Bool {
            guard !isPublished else { return admitPublishedTask() }
            guard phase.admitsTasks else { return false }
            count += 1
            return true
        }

        /// Counts a task under a supervisor: the count is published before the phase is read again.
        ///
        /// If the phase has changed in between, the supervisor may not have seen the task, which is then refused.
        private mutating func admitPublishedTask() -> Bool {
            guard let words, words.phase.admitsTasks else { return false }
            words.publish(openTasks: count + 1)
            guard words.phase.admitsTasks else {
                words.publish(openTasks: count)
                return false
            }
            count += 1
            return true
        }

        /// A Boolean value indicating whether the supervisor wants to know that no task is open: a refused one was
        /// counted for a moment.
        var mustReportIdle: Bool { isPublished && count == 0 && words?.takeIdleRequest() == true }

        /// Ends the count of a task, and returns whether the host must know.
        mutating func removeTask() -> Bool {
            count -= 1
            guard isPublished, let words else { return phase != .foreground && count == 0 }
            words.publish(openTasks: count)
            return count == 0 && words.phase != .foreground && words.takeIdleRequest()
        }
    }

    private let state = Guarded(State())
    /// Called, without the lock, when the first task is opened or the last one closed outside the foreground.
    private let openCountDidChange: @Sendable () -> Void

    package init(openCountDidChange: @escaping @Sendable () -> Void) { self.openCountDidChange = openCountDidChange }

    /// Opens a task and returns its identifier; 0 if no task is admitted.
    package func begin(_ name: String, handler: Handler) -> UInt64 {
        let (identifier, changed) = state.withLock { state -> (UInt64, Bool) in
            guard state.admitTask() else { return (0, state.mustReportIdle) }
            return (
                Self.occupySlot(in: &state, name: name, handler: handler),
                !state.isPublished && state.phase != .foreground && state.count == 1
            )
        }
        if changed { openCountDidChange() }
        return identifier
    }

    /// Closes a task; returns `false` if it is not open.
    @discardableResult
    package func end(_ identifier: UInt64) -> Bool {
        var released = Handler.none
        let (known, changed) = state.withLock { state -> (Bool, Bool) in
            guard let handler = Self.vacateSlot(in: &state, identifier: identifier) else { return (false, false) }
            released = handler
            return (true, state.removeTask())
        }
        // The handler is released without the lock, because a deinitialiser may call this table.
        _ = consume released
        if changed { openCountDidChange() }
        return known
    }

    private static func occupySlot(in state: inout State, name: String, handler: Handler) -> UInt64 {
        if state.firstFree < 0 {
            state.slots.append(Slot())
            state.firstFree = Int32(state.slots.count - 1)
        }
        let index = Int(state.firstFree)
        let taken = state.slots[index].occupy(name: name, handler: handler, order: state.openedCount)
        state.openedCount += 1
        state.firstFree = taken.nextFree
        return UInt64(taken.generation) << 32 | UInt64(index + 1)
    }

    private static func vacateSlot(in state: inout State, identifier: UInt64) -> Handler? {
        let index = Int(identifier & 0xffff_ffff) - 1
        guard index >= 0, index < state.slots.count else { return nil }
        guard let handler = state.slots[index].vacate(generation: UInt32(identifier >> 32), nextFree: state.firstFree)
        else { return nil }
        state.firstFree = Int32(index)
        return handler
    }
}

// MARK: For the host
extension BackgroundTaskTable {
    /// The number of open tasks.
    package var count: Int { state.withLock { $0.count } }

    /// The sorted names of the open tasks, without those of observers.
    package var names: [String] { names { !$0.isObserver } }

    /// The sorted names of the observers that have not yet handled a change.
    package var observerNames: [String] { names(where: \.isObserver) }

    private func names(where condition: (Slot) -> Bool) -> [String] {
        state.withLock { $0.slots.filter { $0.generation & 1 == 1 && condition($0) }.map(\.name) }.sorted()
    }

    /// The end of background time; `nil` if it does not end.
    package var deadline: Duration? { state.withLock { $0.page.map(\.deadline) ?? $0.deadline } }

    /// Shares the count with a supervisor, which decides the phase from now on.
    package func attach(_ page: SharedPage) {
        let old = state.withLock { state in
            defer {
                state.page = page
                state.words = page.taskWords
                state.isPublished = true
            }
            page.taskWords.publish(openTasks: state.count)
            return state.page
        }
        _ = consume old
    }

    /// Decides the phase in this process from now on.
    package func detach(phase: TaskPhase) {
        let old = state.withLock { state in
            defer {
                state.page = nil
                state.words = nil
                state.isPublished = false
            }
            state.phase = phase
            state.deadline = nil
            return state.page
        }
        _ = consume old
    }

    package func setPhase(_ phase: TaskPhase, deadline: Duration?) {
        state.withLock { state in
            state.phase = phase
            state.deadline = deadline
        }
    }

    /// Closes the table for new tasks if none is open, and returns whether it did.
    package func closeIfIdle(phase: TaskPhase = .expiring) -> Bool {
        state.withLock { state in
            guard state.count == 0 else { return false }
            state.phase = phase
            return true
        }
    }

    /// Returns `true` if the task is open.
    package func isOpen(_ identifier: UInt64) -> Bool {
        let index = Int(identifier & 0xffff_ffff) - 1
        let generation = UInt32(identifier >> 32)
        return state.withLock { state in
            guard index >= 0, index < state.slots.count else { return false }
            return generation & 1 == 1 && state.slots[index].generation == generation
        }
    }

    /// Moves the end of background time by the time in which the process did not run.
    package func postponeDeadline(by duration: Duration) {
        state.withLock { state in if let deadline = state.deadline { state.deadline = deadline + duration } }
    }

    /// Removes and returns the handlers of all open tasks, or of those of observers only, in the order in which
    /// the tasks were opened.
    package func removeHandlers(ofObserversOnly: Bool = false) -> [(identifier: UInt64, handler: Handler)] {
        state.withLock { state in
            state.slots.indices.filter { index in
                state.slots[index].generation & 1 == 1 && (!ofObserversOnly || state.slots[index].isObserver)
            }.sorted { state.slots[$0].order < state.slots[$1].order }.map { index in
                defer { state.slots[index].handler = .none }
                let identifier = UInt64(state.slots[index].generation) << 32 | UInt64(index + 1)
                return (identifier, state.slots[index].handler)
            }
        }
    }

    /// Ends the tasks of observers that have not handled a change: nothing waits for them any more.
    package func expireObservers() {
        for (_, handler) in removeHandlers(ofObserversOnly: true) { if case .observer(let body) = handler { body() } }
    }
}
