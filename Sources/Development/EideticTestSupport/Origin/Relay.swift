package import EideticCore
import Glibc
import Synchronization

/// A TCP relay between clients and a local server that can drop all traffic silently, as a failing network does.
///
/// It stops when it is deallocated. If the server does not listen, the relay closes new connections at once.
package final class Relay: Sendable {
    /// The port that the relay listens on.
    package let port: Int

    private let listener: ListeningSocket
    private let connections = Guarded<[Connection]>([])

    /// Creates a relay to the server on the local port `target`; it accepts connections as soon as this returns.
    package init(to target: Int) throws(EideticError) {
        listener = try ListeningSocket()
        port = listener.port
        Thread.start(name: "relay") { [listener, weak self] in
            while let client = listener.accept() { self?.relay(FileDescriptor(adopting: client), to: target) }
        }
    }

    deinit {
        listener.stop()
        close()
    }

    /// The number of connections accepted so far.
    package var connectionCount: Int { connections.withLock { $0.count } }

    /// Stops forwarding on all current connections without closing them; later connections work.
    package func freeze() { for connection in connections.withLock({ $0 }) { connection.freeze() } }

    /// Closes all current connections; later ones work.
    package func close() { for connection in connections.withLock({ $0 }) { connection.shutDown() } }

    private func relay(_ client: consuming FileDescriptor, to target: Int) {
        guard let server = try? LoopbackPort.connect(to: target) else { return }
        let connection = Connection(client: client, server: server)
        connections.withLock { $0.append(connection) }
        connection.start()
    }

    /// Both sides of a relayed connection; closed when neither side forwards any more.
    private final class Connection: Sendable {
        private let client: FileDescriptor
        private let server: FileDescriptor
        private let isFrozen = Atomic(false)

        init(client: consuming FileDescriptor, server: consuming FileDescriptor) {
            self.client = client
            self.server = server
        }

        func freeze() { isFrozen.store(true, ordering: .sequentiallyConsistent) }

        func shutDown() {
            for number in [client.rawValue, server.rawValue] { _ = shutdown(number, Int32(SHUT_RDWR)) }
        }

        func start() {
            Thread.start(name: "relay-up") { self.forward(from: self.client.rawValue, to: self.server.rawValue) }
            Thread.start(name: "relay-down") { self.forward(from: self.server.rawValue, to: self.client.rawValue) }
        }

        private func forward(from source: Int32, to target: Int32) {
            var buffer = [UInt8](repeating: 0, count: 16_384)
            while case let count = recv(source, &buffer, buffer.count, 0), count > 0 {
                if isFrozen.load(ordering: .sequentiallyConsistent) { continue }
                guard send(target, buffer, count, Int32(MSG_NOSIGNAL)) == count else { break }
            }
            if !isFrozen.load(ordering: .sequentiallyConsistent) { shutDown() }
        }
    }
}
