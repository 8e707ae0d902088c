import CNetwork
import EideticCore
import Glibc

/// What other threads ask of the engine.
enum EngineCommand: Sendable {
    /// Begin an exchange, which has waited for so long.
    case start(ExchangeRequest, queued: Duration)
    case cancel(UInt64)
    /// The reader of a body has caught up.
    case readerReady(UInt64)
    /// Whether an exchange is to take no bytes.
    case suspend(UInt64, Bool)
    case setRateLimit(Int?)
    case removeCookies
    /// The network is another one: connections may be dead.
    case networkChanged
    case stop
}

/// The engine's inbox: commands from any thread, read by the engine's own.
final class EngineInbox: Sendable {
    private struct State {
        var commands: [EngineCommand] = []
        var isSleeping = false
        var isOpen = true
    }

    private let state = Guarded(State())
    private let wakeupEvent: FileDescriptor

    /// The number of the file that can be read when a command has come while the engine slept: an `eventfd`.
    var wakeupDescriptor: Int32 { wakeupEvent.rawValue }

    /// A machine that can give no descriptor cannot go on: traps.
    init() {
        let number = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        precondition(number >= 0, "no eventfd: \(SystemError.message(for: errno))")
        wakeupEvent = FileDescriptor(adopting: number)
    }

    /// Leaves a command; wakes the engine only where it sleeps.
    ///
    /// - Returns: False where the engine has stopped and the command will not be read.
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

    /// Takes all commands.
    func drain() -> [EngineCommand] {
        state.withLock { state in
            state.isSleeping = false
            guard !state.commands.isEmpty else { return [] }
            defer { state.commands = [] }
            return state.commands
        }
    }

    /// Whether there is nothing to read, so that the engine may sleep; from now on a command wakes it.
    func prepareToSleep() -> Bool {
        state.withLock { state in
            state.isSleeping = state.commands.isEmpty
            return state.isSleeping
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
