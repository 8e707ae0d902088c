import CTunnel
import EideticCore
import EideticTestSupport
import Glibc

/// Two networks of their own, joined by a link that takes its time and loses packets.
///
/// Needs root, TUN devices and `ip`; the kernel need know nothing of delay and loss.
final class LossyLink: Sendable {
    static let serverAddress = "10.73.0.1"
    static let clientAddress = "10.73.0.2"

    /// Threads whose programs and sockets are at one end of the link.
    let server: NamespaceThread
    let client: NamespaceThread
    private let relay: PacketRelay

    /// `delay` is the time there and back.
    init(roundTripTime: Duration, lossPerMille: Int) async throws {
        server = NamespaceThread(name: "far end")
        client = NamespaceThread(name: "near end")
        let far = try await Self.openTunnel(on: server, address: Self.serverAddress)
        let near = try await Self.openTunnel(on: client, address: Self.clientAddress)
        relay = PacketRelay(between: far, and: near, delay: roundTripTime / 2, lossPerMille: lossPerMille)
        relay.start()
    }

    deinit { relay.stop() }

    /// Begins the list of packets that are lost again, so that each run meets the same.
    func reset() { relay.reset() }

    private static func openTunnel(on thread: NamespaceThread, address: String) async throws -> FileDescriptor {
        let number = await thread.run { () -> Int32 in
            eidetic_enter_network() == 0 ? eidetic_open_tunnel("wire") : -1
        }
        guard number >= 0 else {
            throw EideticError(.permissionDenied, message: "no TUN device: \(SystemError.message(for: errno))")
        }
        let script = "ip link set lo up && ip addr add \(address)/24 dev wire && ip link set wire up"
        let result = try await thread.spawn("sh", arguments: ["-c", script]).waitUntilExit()
        guard result.status == .exited(0) else {
            throw EideticError(.permissionDenied, message: "ip: \(result.errorText)")
        }
        return FileDescriptor(adopting: number)
    }
}

/// A thread that does one thing after the other, so that what belongs to a thread lasts.
final class NamespaceThread: Sendable {
    private let queue = Monitor<(jobs: [@Sendable () -> Void], isOpen: Bool)>(([], true))

    init(name: String) {
        Thread.start(name: name) { [queue] in
            while true {
                let job = queue.wait { state -> (@Sendable () -> Void)?? in
                    if !state.jobs.isEmpty { return .some(state.jobs.removeFirst()) }
                    return state.isOpen ? nil : .some(nil)
                }
                guard let job else { return }
                job()
            }
        }
    }

    deinit {
        queue.withLock { $0.isOpen = false }
        queue.signal()
    }

    /// Does something on the thread.
    func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            queue.withLock { $0.jobs.append { continuation.resume(returning: body()) } }
            queue.signal()
        }
    }

    /// Starts a program in the thread's network.
    func spawn(_ program: String, arguments: [String], input: [UInt8] = []) async throws -> Subprocess {
        try await run { Result { try Subprocess(program, arguments: arguments, input: input) } }.get()
    }
}
