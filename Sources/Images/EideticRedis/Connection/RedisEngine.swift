#if Redis
import EideticCore
import Glibc

/// The thread that sends all commands of a tier and receives their replies.
///
/// The commands of all callers to one server share a connection, one behind the other, without waiting for replies. No
/// caller's thread ever waits for a server.
final class RedisEngine: Sendable {
    /// A message to the thread.
    enum Message: Sendable {
        case send(RedisRequest, to: RedisServer)
        case connected(RedisServer, Result<HiredisConnection, EideticError>)
        case close
    }

    private struct Inbox {
        var messages: [Message] = []
        var isClosed = false
    }

    let connector: RedisConnector
    let limits: RedisLimits
    private let inbox = Guarded(Inbox())
    private let wakeup: WakeUpEvent

    init(_ configuration: RedisTier.Configuration) throws(EideticError) {
        connector = RedisConnector(configuration)
        limits = RedisLimits(configuration)
        do throws(SystemError) { wakeup = try WakeUpEvent() } catch { throw EideticError(error) }
        Thread.start(name: "eidetic-redis") { [self] in
            RedisEngineLoop(engine: self).run()
        }
    }

    /// Sends commands to a server, and waits for their replies.
    ///
    /// - Throws: The error of the connection; `cancelled` as soon as the task is cancelled.
    func replies(to commands: [RedisCommand], from server: RedisServer) async throws(EideticError) -> [RedisReply] {
        let request = RedisRequest(commands, deadline: SystemTime().uptime + limits.timeout)
        guard post(.send(request, to: server)) else { throw .cancelled }
        return try await request.waiter.value(ifCancelled: .failure(.cancelled)).get()
    }

    /// Ends the thread; requests that are waiting are cancelled.
    func close() { _ = post(.close) }

    /// Queues a message; returns `false` if the thread has ended.
    func post(_ message: Message) -> Bool {
        let (isOpen, mustWake) = inbox.withLock { inbox in
            guard !inbox.isClosed else { return (false, false) }
            inbox.messages.append(message)
            return (true, inbox.messages.count == 1)
        }
        if mustWake { wakeup.signal() }
        return isOpen
    }

    /// The descriptor that is readable when there are messages.
    var wakeupDescriptor: Int32 { wakeup.descriptor }

    /// Removes and returns all messages.
    func drain() -> [Message] {
        wakeup.clear()
        return inbox.withLock { inbox in
            defer { inbox.messages = [] }
            return inbox.messages
        }
    }

    /// Refuses all further messages, and returns those that are left.
    func refuseMessages() -> [Message] {
        inbox.withLock { inbox in
            defer { inbox = Inbox(messages: [], isClosed: true) }
            return inbox.messages
        }
    }
}
#endif
