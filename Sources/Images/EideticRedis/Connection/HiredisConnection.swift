#if Redis
import CHiredis
import EideticCore
import Glibc

/// A connection of hiredis to one server.
///
/// The only user of hiredis. Its first phase, with blocking calls, connects and authenticates; the second one sends
/// many commands and receives their replies without blocking.
final class HiredisConnection: @unchecked Sendable {
    // Safe to send: one thread uses it at a time, that of the connector until it passes it on to that of the engine.
    private let context: UnsafeMutablePointer<redisContext>
    let server: RedisServer
    private var outgoing = OutgoingBytes()

    /// Connects to a server; blocks.
    ///
    /// The time limits the connection itself, and then each reply, but not the resolution of a host name.
    init(to server: RedisServer, timeout: Duration) throws(EideticError) {
        let limit = timeval(timeout)
        let context =
            switch server {
            case .tcp(let host, let port): redisConnectWithTimeout(host, Int32(port), limit)
            case .unix(let path): redisConnectUnixWithTimeout(path, limit)
            }
        guard let context else {
            throw EideticError(.outOfMemory, message: "Redis at \(server): no memory for a connection")
        }
        self.context = context
        self.server = server
        // Programs that the process starts must not inherit an authenticated connection.
        _ = fcntl(context.pointee.fd, F_SETFD, FD_CLOEXEC)
        if context.pointee.err != 0 { throw lastError(isConnected: false) }
        redisSetTimeout(context, limit)
        context.pointee.reader.pointee.fn = RedisReply.functions
    }

    deinit { redisFree(context) }

    var descriptor: Int32 { context.pointee.fd }

    /// Sends a command, and waits for its reply; blocks.
    ///
    /// - Throws: The error of the connection, or that of the server.
    func reply(to command: RedisCommand) throws(EideticError) -> RedisReply {
        command.bytes.withUnsafeBytes { bytes in
            _ = redisAppendFormattedCommand(context, bytes.assumingMemoryBound(to: CChar.self).baseAddress, bytes.count)
        }
        var pointer: UnsafeMutableRawPointer?
        guard redisGetReply(context, &pointer) == REDIS_OK, let pointer else { throw lastError(isConnected: true) }
        let reply = RedisReply(adopting: pointer)
        if let text = reply.errorText { throw EideticError(serverError: text, of: server) }
        return reply
    }
}

// MARK: Without blocking
extension HiredisConnection {
    /// Ends the phase with blocking calls.
    func endBlocking() throws(EideticError) {
        let flags = fcntl(descriptor, F_GETFL)
        guard flags >= 0, fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0 else {
            throw systemError()
        }
        context.pointee.flags &= ~REDIS_BLOCK
        // The buffer stays, so that large replies do not allocate one each.
        context.pointee.reader.pointee.maxbuf = 0
    }

    /// Appends a command to the bytes to send.
    ///
    /// Not to the buffer of hiredis, which moves all that is left after each partial write.
    func append(_ command: RedisCommand) { outgoing.append(command.bytes) }

    /// Sends as much as possible; returns `true` if nothing is left.
    func write() throws(EideticError) -> Bool {
        guard outgoing.send(to: descriptor) else { throw systemError() }
        return outgoing.isEmpty
    }

    private func systemError() -> EideticError {
        EideticError(
            .connectionLost,
            message: "Redis at \(server): \(SystemError.message(for: errno))",
            systemErrorNumber: errno
        )
    }

    /// The number of bytes that hiredis gets at a time: after each reply it moves all that are left.
    private static let pieceSize = 1 << 14

    /// Receives bytes that have arrived, by way of a buffer; at most as many as it holds, so that a server that never
    /// stops to send does not keep the thread from all else.
    ///
    /// - Parameters:
    ///   - buffer: The buffer.
    ///   - limit: The largest number of bytes of an incomplete reply.
    ///   - onReply: Called with each reply that is complete now.
    /// - Returns: `false` if the server has closed the connection; otherwise, `true`.
    /// - Throws: `connectionLost`, and `badResponse` for a reply that is malformed or above the limit.
    func receive(
        into buffer: UnsafeMutableRawBufferPointer,
        limit: Int,
        onReply: (RedisReply) -> Void
    ) throws(EideticError) -> Bool {
        let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
        guard count > 0 else {
            guard count < 0 else { return false }
            if errno == EINTR || errno == EAGAIN { return true }
            throw systemError()
        }
        for start in stride(from: 0, to: count, by: Self.pieceSize) {
            let piece = UnsafeRawBufferPointer(rebasing: buffer[start..<min(start + Self.pieceSize, count)])
            let bytes = piece.baseAddress?.assumingMemoryBound(to: CChar.self)
            guard redisReaderFeed(context.pointee.reader, bytes, piece.count) == REDIS_OK else {
                throw EideticError(.badResponse, message: "Redis at \(server): the reply is malformed")
            }
            while let reply = try nextReply(limit: limit) { onReply(reply) }
        }
        return true
    }

    /// Returns the next complete reply, if any.
    private func nextReply(limit: Int) throws(EideticError) -> RedisReply? {
        var pointer: UnsafeMutableRawPointer?
        guard redisGetReplyFromReader(context, &pointer) == REDIS_OK else {
            // The reader takes an array that is not created for a lack of memory.
            guard context.pointee.err != REDIS_ERR_OOM else {
                throw EideticError(.badResponse, message: "Redis at \(server): the reply is nested too deeply")
            }
            throw lastError(isConnected: true)
        }
        guard let pointer else {
            let reader = context.pointee.reader.pointee
            guard reader.len - reader.pos <= limit else {
                let reason = "the reply is longer than \(ByteCount(limit))"
                throw EideticError(.badResponse, message: "Redis at \(server): \(reason)")
            }
            return nil
        }
        return RedisReply(adopting: pointer)
    }

    private func lastError(isConnected: Bool) -> EideticError {
        let number = errno
        let kind = context.pointee.err
        let text = withUnsafePointer(to: context.pointee.errstr) { text in
            text.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: text.pointee)) {
                String(cString: $0)
            }
        }
        let code: EideticError.Code =
            switch kind {
            case REDIS_ERR_PROTOCOL: .badResponse
            case REDIS_ERR_OOM: .outOfMemory
            case REDIS_ERR_IO where number == EAGAIN || number == ETIMEDOUT: .timedOut
            case REDIS_ERR_IO where !isConnected: .connectionRefused
            case REDIS_ERR_OTHER where !isConnected: .hostNotFound
            default: .connectionLost
            }
        return EideticError(code, message: "Redis at \(server): \(text)")
    }
}

extension EideticError {
    init(serverError text: String, of server: RedisServer) {
        let isRefusal = ["NOAUTH", "WRONGPASS", "NOPERM"].contains { text.hasPrefix($0) } || text.contains("AUTH")
        self.init(isRefusal ? .permissionDenied : .cacheUnavailable, message: "Redis at \(server): \(text)")
    }
}

extension timeval {
    fileprivate init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self.init(tv_sec: Int(seconds), tv_usec: Int(attoseconds / 1_000_000_000_000))
    }
}
#endif
