import EideticCore

/// What other threads ask of the engine.
enum EngineCommand: Sendable {
    case start(TransferOrder)
    case cancel(UInt64)
    /// The reader of a body has caught up.
    case readerReady(UInt64)
    /// Whether an exchange is to take no bytes.
    case suspend(UInt64, Bool)
    case limitRate(Int?)
    case removeCookies
    case stop
}

/// The engine's inbox: commands from any thread, read by the engine's own.
final class EngineInbox: Sendable {
    private struct State {
        var commands: [EngineCommand] = []
        var isPolling = false
        var isOpen = true
    }

    private let state = Guarded(State())
    let multi = CurlMulti()

    /// Leaves a command; wakes the engine only where it sleeps.
    ///
    /// - Returns: False where the engine has stopped and the command will not be read.
    func post(_ command: EngineCommand) -> Bool {
        state.withLock { state in
            guard state.isOpen else { return false }
            state.commands.append(command)
            if state.isPolling {
                state.isPolling = false
                multi.wakeUp()
            }
            return true
        }
    }

    /// Takes all commands.
    func drain() -> [EngineCommand] {
        state.withLock { state in
            state.isPolling = false
            guard !state.commands.isEmpty else { return [] }
            defer { state.commands = [] }
            return state.commands
        }
    }

    /// Whether there is nothing to read, so that the engine may sleep; from now on a command wakes it.
    func mayPoll() -> Bool {
        state.withLock { state in
            state.isPolling = state.commands.isEmpty
            return state.isPolling
        }
    }

    /// Takes all commands and refuses later ones.
    func close() -> [EngineCommand] {
        state.withLock { state in
            state.isOpen = false
            defer { state.commands = [] }
            return state.commands
        }
    }
}
