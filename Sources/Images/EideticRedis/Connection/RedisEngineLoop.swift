#if Redis
import EideticCore
import Glibc

/// The state and the loop of the engine's thread.
final class RedisEngineLoop {
    private let engine: RedisEngine
    private let time = SystemTime()
    private var links: [RedisServer: RedisLink] = [:]
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)

    init(engine: RedisEngine) { self.engine = engine }

    deinit { buffer.deallocate() }

    /// Runs until the engine is closed.
    func run() {
        while handleMessages() {
            for link in links.values { link.send(at: time.uptime) }
            poll()
            // What has arrived counts, also if the process was suspended until after the deadline.
            for link in links.values { link.expireRequests(at: time.uptime) }
        }
        for link in links.values { link.fail(with: .cancelled) }
        for case .send(let request, _) in engine.refuseMessages() {
            request.waiter.resume(returning: .failure(.cancelled))
        }
    }

    /// Handles all messages; returns `false` when the engine is closed.
    private func handleMessages() -> Bool {
        for message in engine.drain() {
            switch message {
            case .send(let request, let server): accept(request, for: link(to: server))
            case .connected(let server, let result): link(to: server).connectionEnded(with: result, at: time.uptime)
            case .close: return false
            }
        }
        return true
    }

    private func link(to server: RedisServer) -> RedisLink {
        if let link = links[server] { return link }
        let link = RedisLink(to: server, limits: engine.limits)
        links[server] = link
        return link
    }

    private func accept(_ request: RedisRequest, for link: RedisLink) {
        guard link.accept(request, at: time.uptime) else { return }
        let server = link.server
        engine.connector.connect(to: server) { [engine] result in _ = engine.post(.connected(server, result)) }
    }

    /// Waits for bytes, for a message, or for the next deadline, and receives the bytes.
    private func poll() {
        let open = links.values.filter { $0.descriptor != nil }
        var entries = [pollfd(fd: engine.wakeupDescriptor, events: Int16(POLLIN), revents: 0)]
        for link in open {
            let events = link.wantsToWrite ? POLLIN | POLLOUT : POLLIN
            entries.append(pollfd(fd: link.descriptor ?? -1, events: Int16(events), revents: 0))
        }
        guard Glibc.poll(&entries, nfds_t(entries.count), timeout) > 0 else { return }
        for (link, entry) in zip(open, entries.dropFirst()) where Int32(entry.revents) & ~POLLOUT != 0 {
            link.receive(into: buffer, at: time.uptime)
        }
    }

    /// The number of milliseconds until the next deadline; -1 without one.
    private var timeout: Int32 {
        guard let deadline = links.values.compactMap(\.nextDeadline).min() else { return -1 }
        let rest = max(.zero, deadline - time.uptime)
        return Int32(min(60_000, rest.inMilliseconds.rounded(.up)))
    }
}
#endif
