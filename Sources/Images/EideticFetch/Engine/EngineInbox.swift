import EideticCore

/// A queue of commands from any thread to the engine's thread.
final class EngineInbox: Sendable {
    private struct State {
        var commands: [EngineCommand] = []
        var isSleeping = false
        var isOpen = true
    }

    private let state = Guarded(State())
    private let wakeUp: WakeUpEvent

    /// The descriptor that becomes readable when a command arrives while the engine sleeps.
    var wakeupDescriptor: Int32 { wakeUp.descriptor }

    /// Creates an inbox; traps if the system cannot create its event.
    init() {
        do throws(SystemError) { wakeUp = try WakeUpEvent() } catch { preconditionFailure("\(error)") }
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
        if mustWake { wakeUp.signal() }
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

/// A command of another thread to the engine.
enum EngineCommand: Sendable {
    /// Starts an exchange that has waited in the queue for `queued`.
    case start(ExchangeRequest, queued: Duration)
    case cancel(UInt64)
    /// Resumes an exchange that was paused until its reader caught up.
    case readerReady(UInt64)
    case setSuspended(UInt64, isSuspended: Bool)
    case setRateLimit(Int?)
    /// Resumes exchanges that wait for memory.
    case memoryReleased
    case removeCookies
    /// Replaces connections, which may be dead after a change of the network.
    case networkChanged
    case stop
}
