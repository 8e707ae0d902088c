#if Redis
import EideticCore

/// The choice of the server for a key, which follows the redirections of a cluster.
///
/// A single server never redirects. The table of a cluster's slots is filled when a node redirects for the first time,
/// and again each time after that, by at most one request at a time.
final class RedisRouter: Sendable {
    /// The largest number of redirections of one request.
    static let redirectionLimit = 5

    struct State {
        var owners: [Int: RedisServer] = [:]
        /// The servers to ask for a slot without a known owner; the last one that responded comes first.
        var candidates: [RedisServer]
        var isRefreshing = false
    }

    let engine: RedisEngine
    private let state: Guarded<State>
    private let time = SystemTime()

    init(engine: RedisEngine, seeds: [RedisServer]) {
        self.engine = engine
        state = Guarded(State(candidates: seeds))
    }

    /// Sends commands about a key to the node that has its slot, and waits for the replies.
    ///
    /// While a slot is on its way to another node, some of its keys are there already: each command is redirected
    /// alone.
    ///
    /// - Returns: The replies, among which the only errors are those about the type of a key.
    /// - Throws: The error of the connection, or of the server.
    func replies(to commands: [RedisCommand], for key: String) async throws(EideticError) -> [RedisReply] {
        var results = [RedisReply](repeating: .null, count: commands.count)
        var (open, target, isAsking) = (Array(commands.indices), server(for: key), false)
        let deadline = time.uptime + engine.limits.timeout
        for _ in 0...Self.redirectionLimit {
            guard time.uptime < deadline else {
                let slot = KeySlot.slot(of: key)
                throw EideticError(.timedOut, message: "Redis: redirections for slot \(slot) took too long")
            }
            let replies = try await replies(to: open.map { commands[$0] }, from: target, asking: isAsking)
            let outcome = try outcome(of: replies, from: target)
            for (index, reply) in zip(open, replies) { results[index] = reply }
            guard let redirection = outcome.redirection else { return results }
            if redirection.isPermanent { moveSlot(redirection) }
            open = outcome.redirected.map { open[$0] }
            target = redirection.server
            isAsking = !redirection.isPermanent
        }
        throw EideticError(.cacheUnavailable, message: "Redis: too many redirections for slot \(KeySlot.slot(of: key))")
    }

    /// Returns which of the replies are redirections, and the last of those.
    private func outcome(
        of replies: [RedisReply],
        from server: RedisServer
    ) throws(EideticError) -> (redirection: Redirection?, redirected: [Int]) {
        var redirection: Redirection?, redirected: [Int] = []
        for (index, reply) in replies.enumerated() {
            guard let text = reply.errorText, !text.hasPrefix("WRONGTYPE") else { continue }
            guard let found = Redirection(text, from: server) else { throw EideticError(serverError: text, of: server) }
            redirection = found
            redirected.append(index)
        }
        return (redirection, redirected)
    }

    private func replies(
        to commands: [RedisCommand],
        from server: RedisServer,
        asking: Bool
    ) async throws(EideticError) -> [RedisReply] {
        do throws(EideticError) {
            guard asking else { return try await engine.replies(to: commands, from: server) }
            let replies = try await engine.replies(to: commands.flatMap { [.asking, $0] }, from: server)
            return replies.enumerated().filter { !$0.offset.isMultiple(of: 2) }.map(\.element)
        } catch {
            if error.code != .cancelled { forget(server) }
            throw error
        }
    }

    private func server(for key: String) -> RedisServer {
        state.withLock { state in
            let owner = state.owners.isEmpty ? nil : state.owners[KeySlot.slot(of: key)]
            return owner ?? state.candidates[0]
        }
    }

    /// Forgets a node that does not respond, so that another one is asked who has its slots now.
    private func forget(_ server: RedisServer) {
        state.withLock { state in
            guard state.candidates.count > 1 || !state.owners.isEmpty else { return }
            state.owners = state.owners.filter { $0.value != server }
            state.candidates = state.candidates.filter { $0 != server } + [server]
        }
    }

    /// Records a redirection, and reads the table of all slots on the side.
    private func moveSlot(_ redirection: Redirection) {
        let mustRefresh = state.withLock { state in
            state.owners[redirection.slot] = redirection.server
            if !state.candidates.contains(redirection.server) { state.candidates.append(redirection.server) }
            defer { state.isRefreshing = true }
            return !state.isRefreshing
        }
        guard mustRefresh else { return }
        Task.detached { [self] in
            let table = try? await readSlots(from: redirection.server)
            state.withLock { state in
                if let table, !table.isEmpty { state.adopt(table) }
                state.isRefreshing = false
            }
        }
    }

    /// Returns all nodes that have slots, or the server that is no cluster.
    ///
    /// - Throws: The error of the last server, if none responds.
    func allServers() async throws(EideticError) -> [RedisServer] {
        var failure = EideticError(.cacheUnavailable, message: "Redis: no server")
        for server in state.withLock({ $0.candidates }) {
            do throws(EideticError) {
                let table = try await readSlots(from: server)
                state.withLock { $0.adopt(table) }
                return table.isEmpty ? [server] : Array(Set(table.values))
            } catch {
                failure = error
            }
        }
        throw failure
    }

    private func readSlots(from server: RedisServer) async throws(EideticError) -> [Int: RedisServer] {
        let reply = try await engine.replies(to: [RedisCommand("CLUSTER", "SLOTS")], from: server)[0]
        guard case .array(let ranges) = reply else { return [:] }
        var table: [Int: RedisServer] = [:]
        for case .array(let range) in ranges {
            guard range.count >= 3, case .integer(let first) = range[0], case .integer(let last) = range[1],
                case .array(let node) = range[2], node.count >= 2, case .integer(let port) = node[1],
                0 <= first, first <= last, last < KeySlot.count, (1...65_535).contains(port)
            else { continue }
            var host = node[0].text ?? ""
            if host.isEmpty || host == "?", case .tcp(let own, _) = server { host = own }
            for slot in first...last { table[slot] = .tcp(host: host, port: port) }
        }
        return table
    }
}

extension RedisRouter.State {
    /// Replaces the table; its nodes are candidates from now on.
    mutating func adopt(_ table: [Int: RedisServer]) {
        owners = table
        for server in Set(table.values) where !candidates.contains(server) { candidates.append(server) }
    }
}
#endif
