import EideticCore
import Glibc

/// Who is connected to a scripted origin, and what was asked.
final class OriginRegistry: Sendable {
    private struct State {
        var isOpen = true
        var connections: [Int: Int32] = [:]
        var connectionCount = 0
        var requests: [ScriptedOrigin.Request] = []
        var gates: [Gate] = []
        var waiters: [(count: Int, gate: Gate)] = []
    }

    private let state = Guarded(State())

    var requests: [ScriptedOrigin.Request] { state.withLock { $0.requests } }
    var connectionCount: Int { state.withLock { $0.connectionCount } }

    /// Takes a connection in and gives its number; closes it and gives `nil` where the origin has stopped.
    func register(_ connection: Int32) -> Int? {
        let number = state.withLock { state -> Int? in
            guard state.isOpen else { return nil }
            state.connectionCount += 1
            state.connections[state.connectionCount] = connection
            return state.connectionCount
        }
        if number == nil { Glibc.close(connection) }
        return number
    }

    /// Closes a connection.
    func closeConnection(_ number: Int) {
        // Under the lock, so that nobody shuts down a number which the system has given to somebody else.
        state.withLock { state in
            if let connection = state.connections.removeValue(forKey: number) { Glibc.close(connection) }
        }
    }

    func record(_ request: ScriptedOrigin.Request) {
        let reachedWaiters = state.withLock { state in
            state.requests.append(request)
            let count = state.requests.count
            defer { state.waiters.removeAll { $0.count <= count } }
            return state.waiters.filter { $0.count <= count }
        }
        for waiter in reachedWaiters { waiter.gate.open() }
    }

    func removeRequests() { state.withLock { $0.requests = [] } }

    func waitForRequests(count: Int) async {
        let gate = Gate()
        let isReached = state.withLock { state in
            if state.requests.count < count { state.waiters.append((count, gate)) }
            return state.requests.count >= count
        }
        if !isReached { await gate.wait() }
    }

    /// Blocks the connection's thread before a gate; one that is still closed when the origin stops is opened then.
    func block(until gate: Gate) {
        let isOpen = state.withLock { state in
            if state.isOpen { state.gates.append(gate) }
            return state.isOpen
        }
        if isOpen { gate.block() }
    }

    func shutDown() {
        let gates = state.withLock { state in
            state.isOpen = false
            for connection in state.connections.values { _ = shutdown(connection, Int32(SHUT_RDWR)) }
            return state.gates
        }
        for gate in gates { gate.open() }
    }
}
