#if Redis
import EideticCore

/// The engine's connection to one server, with its requests and its circuit breaker; used by the engine's thread only.
final class RedisLink {
    let server: RedisServer
    private var connection: HiredisConnection?
    private var isConnecting = false
    private(set) var wantsToWrite = false
    private var waiting = RequestQueue<RedisRequest>()
    private var sent = RequestQueue<RedisRequest>()
    /// The replies to the first of the requests that were sent.
    private var replies: [RedisReply] = []
    /// The requests that are completed by the bytes that are being received, with their replies.
    private var completed: [(request: RedisRequest, replies: [RedisReply])] = []
    /// The number of the first requests that were sent, and have failed before their replies arrived.
    private var expiredCount = 0
    /// The uptime at which the server has sent something for the last time.
    private var responseTime: Duration = .zero
    private var breaker: RedisCircuitBreaker
    private let limits: RedisLimits

    init(to server: RedisServer, limits: RedisLimits) {
        self.server = server
        self.limits = limits
        breaker = RedisCircuitBreaker(interval: limits.retryInterval)
    }

    /// The descriptor to poll; `nil` without a connection.
    var descriptor: Int32? { connection?.descriptor }

    /// The earliest time at which a request, or the connection, fails.
    var nextDeadline: Duration? {
        let next = (sent[expiredCount] ?? waiting.first)?.deadline
        guard expiredCount > 0 else { return next }
        return min(next ?? silenceDeadline, silenceDeadline)
    }

    /// The time at which a server counts as one that does not respond, unless it sends something before.
    ///
    /// One that is busy with large values may send for longer than a request waits, but not much longer.
    private var silenceDeadline: Duration {
        guard connection != nil, let oldest = sent.first?.deadline else { return .zero }
        return min(responseTime + limits.timeout, oldest + limits.timeout * 3)
    }

    /// Queues a request, or fails it at once; returns `true` if the caller has to connect.
    func accept(_ request: RedisRequest, at now: Duration) -> Bool {
        switch breaker.admit(at: now) {
        case .admitted:
            waiting.append(request)
            return startConnecting()
        case .refused(let error):
            request.waiter.resume(returning: .failure(error))
            return false
        case .refusedTrying(let error):
            request.waiter.resume(returning: .failure(error))
            return startConnecting()
        }
    }

    private func startConnecting() -> Bool {
        guard connection == nil, !isConnecting else { return false }
        isConnecting = true
        return true
    }

    /// Adopts a new connection, or fails the requests that wait for it.
    func connectionEnded(with result: Result<HiredisConnection, EideticError>, at now: Duration) {
        isConnecting = false
        switch result {
        case .success(let connection):
            self.connection = connection
            responseTime = now
            if breaker.close() { Log.write(.info, category: .store, message: "Redis at \(server) responds again") }
        case .failure(let error): open(after: error, at: now)
        }
    }

    func send(at now: Duration) {
        guard let connection, wantsToWrite || !waiting.isEmpty else { return }
        while let request = waiting.removeFirst() {
            for command in request.commands { connection.append(command) }
            sent.append(request)
        }
        do throws(EideticError) {
            wantsToWrite = try !connection.write()
        } catch {
            disconnect(after: error)
        }
    }

    /// Receives what has arrived, and completes requests.
    func receive(into buffer: UnsafeMutableRawBufferPointer, at now: Duration) {
        guard let connection else { return }
        // Once for all: each task that is resumed may wake a thread.
        defer { resumeCompleted() }
        do throws(EideticError) {
            responseTime = now
            let isOpen = try connection.receive(into: buffer, limit: limits.replyLimit) { complete(with: $0) }
            if !isOpen {
                disconnect(after: EideticError(.connectionLost, message: "Redis at \(server) closed the connection"))
            }
        } catch {
            disconnect(after: error)
        }
    }

    /// Fails the requests that have reached their deadlines; all of them if the server sends nothing.
    func expireRequests(at now: Duration) {
        guard let deadline = (sent.first ?? waiting.first)?.deadline, deadline <= now else { return }
        let error = EideticError(.timedOut, message: "Redis at \(server) did not respond in time")
        guard silenceDeadline > now else { return open(after: error, at: now) }
        while let request = sent[expiredCount], request.deadline <= now {
            request.waiter.resume(returning: .failure(error))
            expiredCount += 1
        }
    }

    /// Closes the connection, and fails all requests.
    func fail(with error: EideticError) {
        for request in sent.removeAll() + waiting.removeAll() { request.waiter.resume(returning: .failure(error)) }
        connection = nil
        wantsToWrite = false
        replies = []
        expiredCount = 0
    }

    private func open(after error: EideticError, at now: Duration) {
        if breaker.open(after: error, at: now) {
            Log.write(.warning, category: .store, message: "\(error.message); images are loaded without it")
        }
        fail(with: error)
    }

    /// Closes the connection after an error that a new one may not have, and fails the requests that were sent.
    private func disconnect(after error: EideticError) {
        Log.write(.debug, category: .store, message: error.message)
        fail(with: error)
    }

    private func complete(with reply: RedisReply) {
        guard let request = sent.first else { return }
        replies.append(reply)
        guard replies.count == request.commands.count else { return }
        completed.append((request, replies))
        replies = []
        _ = sent.removeFirst()
        expiredCount = max(0, expiredCount - 1)
    }

    private func resumeCompleted() {
        for (request, replies) in completed { request.waiter.resume(returning: .success(replies)) }
        completed.removeAll(keepingCapacity: true)
    }
}
#endif
