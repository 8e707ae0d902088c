import EideticCore
import Glibc

/// The open connections of a scripted origin, and a log of its requests.
final class OriginRegistry: Sendable {
    private struct State {
        var isOpen = true
        var connections: [Int: Int32] = [:]
        var connectionCount = 0
        var requests: [ScriptedOrigin.Request] = []
        var faults: [String] = []
        var gates: [Gate] = []
        var waiters: [(count: Int, gate: Gate)] = []
    }

    private let state = Guarded(State())

    var requests: [ScriptedOrigin.Request] { state.withLock { $0.requests } }
    var faults: [String] { state.withLock { $0.faults } }
    var connectionCount: Int { state.withLock { $0.connectionCount } }

    /// Registers a connection and returns its number, from 1; after `shutDown()` closes it and returns `nil`.
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
        // With the lock held, so that `shutDown()` cannot use a descriptor that the system has already reused.
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

    /// Records what the standards forbid in the head of a request.
    func record(faultsIn head: [UInt8]) {
        let found = RequestGrammar.faults(in: head)
        if !found.isEmpty { state.withLock { $0.faults += found } }
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

    /// Blocks the connection's thread until the gate opens; `shutDown()` opens it too.
    func block(until gate: Gate) {
        if opensWhenStopped(gate) { gate.block() }
    }

    /// Registers a gate that `shutDown()` opens.
    ///
    /// - Returns: `false` if the server has stopped; otherwise, `true`.
    func opensWhenStopped(_ gate: Gate) -> Bool {
        state.withLock { state in
            if state.isOpen { state.gates.append(gate) }
            return state.isOpen
        }
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
