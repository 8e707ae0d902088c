import CTunnel
import EideticCore
import EideticTestSupport
import Glibc

/// Two network namespaces, connected by a link with delay and packet loss.
///
/// Requires root, TUN devices and `ip`. The link is simulated in user space, without kernel support for delay and loss.
final class LossyLink: Sendable {
    static let serverAddress = "10.73.0.1"
    static let clientAddress = "10.73.0.2"

    /// Threads whose programs and sockets are at the server's and the client's end of the link.
    let server: NamespaceThread
    let client: NamespaceThread
    private let relay: PacketRelay

    /// Creates both namespaces and starts the relay between them.
    init(roundTripTime: Duration, lossPerMille: Int) async throws {
        server = NamespaceThread(name: "far end")
        client = NamespaceThread(name: "near end")
        let far = try await Self.openTunnel(on: server, address: Self.serverAddress)
        let near = try await Self.openTunnel(on: client, address: Self.clientAddress)
        relay = PacketRelay(between: far, and: near, delay: roundTripTime / 2, lossPerMille: lossPerMille)
        relay.start()
    }

    deinit { relay.stop() }

    /// Restarts the sequence of lost packets, so that each run loses the same ones.
    func reset() { relay.reset() }

    private static func openTunnel(on thread: NamespaceThread, address: String) async throws -> FileDescriptor {
        let number = await thread.run { () -> Int32 in
            eidetic_enter_network() == 0 ? eidetic_open_tunnel("wire") : -1
        }
        guard number >= 0 else {
            throw EideticError(
                .permissionDenied,
                message: "cannot create a TUN device: \(SystemError.message(for: errno))"
            )
        }
        let script = "ip link set lo up && ip addr add \(address)/24 dev wire && ip link set wire up"
        let result = try await thread.spawn("sh", arguments: ["-c", script]).waitUntilExit()
        guard result.status == .exited(0) else {
            throw EideticError(.permissionDenied, message: "ip failed: \(result.errorText)")
        }
        return FileDescriptor(adopting: number)
    }
}
