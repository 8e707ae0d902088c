import EideticCore
import Glibc

/// A listening socket, which rests for a while when no connection can be accepted.
///
/// Without descriptors a connection waits, and its socket would be readable without an end.
final class Listener {
    private let socket: PacketSocket
    private let poller: Poller
    private let admit: (PacketSocket) -> Void
    private var watch: Poller.Watch?
    /// The time at which accepting continues.
    private lazy var pauseEnd = poller.alarm { [unowned self] in self.start() }

    private static let pause: Duration = .milliseconds(500)
    /// The number of connections that are accepted before others have their turn.
    private static let turnLength = 64

    init(socket: PacketSocket, poller: Poller, admit: @escaping (PacketSocket) -> Void) {
        self.socket = socket
        self.poller = poller
        self.admit = admit
        start()
    }

    private func start() { watch = poller.watch(socket.rawValue) { [unowned self] in self.accept() } }

    private func accept() {
        do throws(SystemError) {
            for _ in 0..<Self.turnLength {
                guard let connection = try socket.accept() else { return }
                admit(connection)
            }
        } catch {
            Log.write(.error, category: .background, message: "cannot accept a connection: \(error)")
            watch = nil
            pauseEnd.time = Clock.now + Self.pause
        }
    }
}
