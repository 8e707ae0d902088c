import CNetwork
import EideticCore
import Glibc

/// A queue of commands from any thread to the engine's thread.
final class EngineInbox: Sendable {
    private struct State {
        var commands: [EngineCommand] = []
        var isSleeping = false
        var isOpen = true
    }

    private let state = Guarded(State())
    private let wakeupEvent: FileDescriptor

    /// The `eventfd` that becomes readable when a command arrives while the engine sleeps.
    var wakeupDescriptor: Int32 { wakeupEvent.rawValue }

    /// Creates an inbox; traps if the system cannot create an `eventfd`.
    init() {
        let number = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        precondition(number >= 0, "eventfd failed: \(SystemError.message(for: errno))")
        wakeupEvent = FileDescriptor(adopting: number)
    }

    /// Appends a command, and wakes the engine if it sleeps.
    ///
    /// - Returns: `false` if the engine has stopped and drops the command; otherwise, `true`.
    func post(_ command: EngineCommand) -> Bool {
        let (isAccepted, mustWake) = state.withLock { state in
            guard state.isOpen else { return (false, false) }
            state.commands.append(command)
            defer { state.isSleeping = false }
            return (true, state.isSleeping)
        }
        if mustWake { eventfd_write(wakeupDescriptor, 1) }
        return isAccepted
    }

    /// Removes and returns all commands.
    func drain() -> [EngineCommand] {
        state.withLock { state in
            state.isSleeping = false
            guard !state.commands.isEmpty else { return [] }
            defer { state.commands = [] }
            return state.commands
        }
    }

    /// Announces that the engine is about to sleep, so that the next command wakes it.
    ///
    /// - Returns: `true` if the inbox is empty and the engine may sleep; otherwise, `false`.
    func prepareToSleep() -> Bool {
        state.withLock { state in
            state.isSleeping = state.commands.isEmpty
            return state.isSleeping
        }
    }

    /// Removes and returns all commands; later ones are refused.
    func close() -> [EngineCommand] {
        state.withLock { state in
            state.isOpen = false
            defer { state.commands = [] }
            return state.commands
        }
    }
}
