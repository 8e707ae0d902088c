import EideticCore
import EideticLifecycle
import Glibc

/// A connected socket that an application has left with the supervisor, which watches it while the application does not
/// run.
final class KeptSocket {
    let descriptor: FileDescriptor
    private let poller: Poller
    private let receive: () -> Void
    private var watch: Poller.Watch?
    private var pauses: UnreadDataPauses
    /// The time before which the same data wakes nobody; `nil` if it does.
    private(set) var pauseEnd: Duration?

    init(adopting number: Int32, poller: Poller, pause: Duration, receive: @escaping () -> Void) {
        descriptor = FileDescriptor(adopting: number)
        self.poller = poller
        self.receive = receive
        pauses = UnreadDataPauses(first: pause)
    }

    var isWatched: Bool {
        get { watch != nil }
        set {
            guard newValue != isWatched else { return }
            watch = newValue ? poller.watch(descriptor.rawValue) { [unowned self] in self.receive() } : nil
        }
    }

    /// Watches the socket, unless the application was just woken for the data that waits, and has not read it.
    func watchUnreadData(at now: Duration) {
        if !isWatched, pauses.isExpectingData {
            pauses.observe(peek(limit: WakeReason.payloadLimit) ?? [])
            if !pauses.isExpectingData { pauseEnd = nil }
        }
        if let pauseEnd, pauseEnd > now { return isWatched = false }
        pauseEnd = nil
        isWatched = true
    }

    /// Returns a Boolean value indicating whether data wakes the application now; otherwise it does after a pause.
    func admit(_ data: [UInt8], at now: Duration) -> Bool {
        pauseEnd = pauses.admit(data, at: now)
        return pauseEnd == nil
    }

    /// The data that has arrived, which stays in the socket; `nil` if the other end has closed the connection.
    func peek(limit: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = recv(descriptor.rawValue, &bytes, limit, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        if count < 0 { return errno == EAGAIN ? [] : nil }
        return count == 0 ? nil : Array(bytes.prefix(count))
    }
}
