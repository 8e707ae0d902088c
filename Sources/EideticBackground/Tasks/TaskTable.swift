import EideticCore
package import LifecycleCore

/// The open background tasks of a process.
///
/// A lock around a table with a list of free slots: beginning and ending a task touch nothing else, and make no system
/// call while the application is in the foreground.
package final class BackgroundTaskTable: Sendable {
    /// What to call when time is up.
    package enum Handler: Sendable {
        case none
        /// On the thread that keeps the time: must return at once.
        case anyThread(@Sendable () -> Void)
        case mainActor(@MainActor @Sendable () -> Void)
    }

    private struct Slot {
        /// Odd while it is taken, so that an identifier fits one task only.
        var generation: UInt32 = 0
        var name = ""
        var handler = Handler.none
        var nextFree: Int32 = -1

        /// One access to the slot for all of it: each one to the array costs a check of its own.
        mutating func occupy(name: String, handler: Handler) -> (generation: UInt32, nextFree: Int32) {
            generation &+= 1
            (self.name, self.handler) = (name, handler)
            return (generation, nextFree)
        }

        /// Gives the handler back; `nil` where the generation is not the one that took the slot.
        mutating func vacate(generation expected: UInt32, nextFree: Int32) -> Handler? {
            guard generation == expected, expected & 1 == 1 else { return nil }
            generation &+= 1
            self.nextFree = nextFree
            let handler = handler
            (name, self.handler) = ("", .none)
            return handler
        }
    }

    private struct State {
        var slots: [Slot] = []
        var firstFree: Int32 = -1
        var count = 0
        var phase = TaskPhase.foreground
        var deadline: Duration?
    }

    private let state = Guarded(State())
    /// Called when the first task begins or the last one ends, out of the foreground; without the lock.
    private let openCountDidChange: @Sendable () -> Void

    package init(openCountDidChange: @escaping @Sendable () -> Void) { self.openCountDidChange = openCountDidChange }

    /// Opens a task; 0 where no more may begin.
    package func begin(_ name: String, handler: Handler) -> UInt64 {
        let (identifier, changed) = state.withLock { state -> (UInt64, Bool) in
            guard state.phase.admitsTasks else { return (0, false) }
            state.count += 1
            return (
                Self.occupySlot(in: &state, name: name, handler: handler),
                state.phase != .foreground && state.count == 1
            )
        }
        if changed { openCountDidChange() }
        return identifier
    }

    /// Closes a task; `false` where it is not open, or was closed before.
    @discardableResult
    package func end(_ identifier: UInt64) -> Bool {
        var released = Handler.none
        let (known, changed) = state.withLock { state -> (Bool, Bool) in
            guard let handler = Self.vacateSlot(in: &state, identifier: identifier) else { return (false, false) }
            released = handler
            state.count -= 1
            return (true, state.phase != .foreground && state.count == 0)
        }
        // What the handler holds is let go here, for a deinitialiser may call back.
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
        let taken = state.slots[index].occupy(name: name, handler: handler)
        state.firstFree = taken.nextFree
        return UInt64(taken.generation) << 32 | UInt64(index + 1)
    }

    private static func vacateSlot(in state: inout State, identifier: UInt64) -> Handler? {
        let index = Int(identifier & 0xffff_ffff) - 1
        guard index >= 0, index < state.slots.count else { return nil }
        guard let handler = state.slots[index].vacate(generation: UInt32(identifier >> 32), nextFree: state.firstFree)
        else {
            return nil
        }
        state.firstFree = Int32(index)
        return handler
    }
}

// MARK: For the host
extension BackgroundTaskTable {
    /// Open tasks.
    package var count: Int { state.withLock { $0.count } }

    /// The names of the open tasks, sorted.
    package var names: [String] { state.withLock { $0.slots.filter { $0.generation & 1 == 1 }.map(\.name) }.sorted() }

    /// When background time ends; `nil` while it does not.
    package var deadline: Duration? { state.withLock { $0.deadline } }

    package func setPhase(_ phase: TaskPhase, deadline: Duration?) {
        state.withLock { state in
            state.phase = phase
            state.deadline = deadline
        }
    }

    /// Shuts the gate if nothing is open, and says whether it did: then nothing is open until it opens again.
    package func closeIfIdle(phase: TaskPhase = .expiring) -> Bool {
        state.withLock { state in
            guard state.count == 0 else { return false }
            state.phase = phase
            return true
        }
    }

    /// Whether this task is open; a handler is called for such a one only.
    package func isOpen(_ identifier: UInt64) -> Bool {
        let index = Int(identifier & 0xffff_ffff) - 1
        let generation = UInt32(identifier >> 32)
        return state.withLock { state in
            guard index >= 0, index < state.slots.count else { return false }
            return generation & 1 == 1 && state.slots[index].generation == generation
        }
    }

    /// Gives the handlers of all open tasks, each of them once only.
    package func removeHandlers() -> [(identifier: UInt64, handler: Handler)] {
        state.withLock { state in
            state.slots.indices.filter { state.slots[$0].generation & 1 == 1 }.map { index in
                defer { state.slots[index].handler = .none }
                let identifier = UInt64(state.slots[index].generation) << 32 | UInt64(index + 1)
                return (identifier, state.slots[index].handler)
            }
        }
    }
}
