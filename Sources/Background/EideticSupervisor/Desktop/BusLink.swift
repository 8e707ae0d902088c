import EideticDBus
import Glibc

/// A connection to a message bus that is made again when it is lost.
final class BusLink {
    /// Called when a connection was made, before anything else is sent.
    var connected: (BusConnection) -> Void = { _ in }
    /// Called with each signal and each call.
    var receive: (BusConnection, BusMessage) -> Void = { _, _ in }

    private(set) var connection: BusConnection?
    /// The reason for which there is no connection.
    private(set) var failure = "not connected yet"

    private let bus: BusConnection.Bus
    private let poller: Poller
    private var watch: Poller.Watch?
    private var nextAttempt: Duration? = .zero
    private var pause = firstPause

    private static let firstPause: Duration = .seconds(1)
    private static let longestPause: Duration = .seconds(60)
    /// The time after which is tried again what the bus did not take.
    private static let writePause: Duration = .milliseconds(5)

    init(to bus: BusConnection.Bus, poller: Poller) {
        self.bus = bus
        self.poller = poller
    }

    // While the descriptor is open.
    deinit { watch = nil }

    /// The time at which ``handleDeadlines()`` must be called; `nil` if only an event can change anything.
    var nextDeadline: Duration? {
        guard let connection else { return nextAttempt }
        let waitsForRoom = connection.pollEvents & Int16(POLLOUT) != 0
        return [waitsForRoom ? Clock.now + Self.writePause : nil, connection.deadline].compactMap(\.self).min()
    }

    func handleDeadlines() {
        if connection != nil { return process() }
        guard let time = nextAttempt, time <= Clock.now else { return }
        do throws(BusError) {
            let connection = try BusConnection(to: bus)
            connection.receive = { [unowned self, unowned connection] in self.receive(connection, $0) }
            self.connection = connection
            watch = poller.watch(connection.descriptor) { [unowned self] in self.process() }
            connected(connection)
            process()
        } catch {
            lose("\(error)")
        }
    }

    /// Sends what waits, and handles what has arrived.
    func process() {
        guard let connection else { return }
        if connection.process() {
            if connection.isReady { pause = Self.firstPause }
        } else {
            lose("the bus has closed the connection")
        }
    }

    private func lose(_ reason: String) {
        failure = reason
        watch = nil
        connection = nil
        nextAttempt = Clock.now + pause
        pause = min(pause * 2, Self.longestPause)
    }
}
