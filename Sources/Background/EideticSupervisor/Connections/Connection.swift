import EideticCore
import EideticSupervision
import Glibc

/// A connection to an application or to `eidetic app`, whose messages are limited in number.
final class Connection {
    let socket: PacketSocket
    /// Called with each packet.
    var receive: (PacketSocket.Packet) -> Void = { _ in }
    /// Called once, when the other end has gone or a packet was refused.
    var end: () -> Void = {}

    private let poller: Poller
    private var watch: Poller.Watch?
    private let limiter: MessageLimiter
    /// The packets that the other end has no room for.
    private var unsent: [(bytes: [UInt8], attachment: Attachment?)] = []
    private var isEnded = false
    /// The time at which reading or writing continues.
    private lazy var pauseEnd = poller.alarm { [unowned self] in self.resume() }

    private static let maximumUnsentCount = 64
    /// The packets that are read before other connections have their turn.
    private static let turnLength = 16

    init(socket: PacketSocket, poller: Poller, limiter: MessageLimiter) {
        self.socket = socket
        self.poller = poller
        self.limiter = limiter
    }

    func start() {
        watch = poller.watch(socket.rawValue) { [unowned self] in self.read() }
    }

    /// Ends the connection without a call of ``end``.
    func close() {
        isEnded = true
        watch = nil
        pauseEnd.time = nil
        receive = { _ in }
        end = {}
    }

    /// A descriptor that a packet brings along, and its owner, which lives until the packet is sent.
    struct Attachment {
        let descriptor: Int32
        let owner: AnyObject
    }

    /// Sends a packet with the page's descriptor attached; ends the connection if the other end does not read.
    func send(_ bytes: [UInt8], page: SharedPageFile) {
        send(bytes, attachment: Attachment(descriptor: page.descriptor, owner: page))
    }

    /// Sends a packet; ends the connection if the other end does not read.
    func send(_ bytes: [UInt8], attachment: Attachment? = nil) {
        unsent.append((bytes, attachment))
        if unsent.count > Self.maximumUnsentCount { return fail() }
        flush()
    }

    /// Continues after a pause.
    private func resume() {
        flush()
        if !isEnded, watch == nil { start() }
    }

    private func flush() {
        while let next = unsent.first, !isEnded {
            do throws(SystemError) {
                guard try socket.send(next.bytes, descriptors: next.attachment.map { [$0.descriptor] } ?? []) else {
                    pauseEnd.time = Clock.now + .milliseconds(20)
                    return
                }
                unsent.removeFirst()
            } catch {
                // Too many descriptors are in flight, of this user's processes together: they are received some time.
                if error.errorNumber == ETOOMANYREFS { return pauseEnd.time = Clock.now + .milliseconds(20) }
                // The other end is gone, which the reading side reports after the last packets.
                return unsent.removeAll()
            }
        }
    }

    /// Reads the packets that wait, and stops for a while when there are too many.
    private func read() {
        for _ in 0..<Self.turnLength where !isEnded {
            guard limiter.take() else {
                watch = nil
                pauseEnd.time = Clock.now + max(.milliseconds(10), limiter.delay)
                return
            }
            do throws(SystemError) {
                switch try socket.receive() {
                case .packet(let packet): receive(packet)
                case .none: return
                case .end: return fail()
                }
            } catch {
                return fail()
            }
        }
    }

    /// A Boolean value indicating whether the other end was closed, whatever is still to be read.
    var isAbandoned: Bool {
        // POLLRDHUP, a macro of the C library's extensions.
        let hangUp: Int16 = 0x2000
        var polled = pollfd(fd: socket.rawValue, events: hangUp, revents: 0)
        return poll(&polled, 1, 0) == 1 && polled.revents & (hangUp | Int16(POLLHUP) | Int16(POLLERR)) != 0
    }

    /// Reads the packets that have arrived, such as those of a process that has just been stopped.
    func readPending() { if watch != nil { read() } }

    func fail() {
        guard !isEnded else { return }
        let end = end
        close()
        end()
    }
}

/// The clock of deadlines.
enum Clock {
    static var now: Duration { SystemTime().uptime }
}

/// The limit of a process, which all of its connections share.
final class MessageLimiter {
    private var bucket: MessageBucket

    init(rate: Int) { bucket = MessageBucket(rate: rate, at: Clock.now) }

    /// Takes a token; returns `false` if there is none.
    func take() -> Bool { bucket.take(at: Clock.now) }

    /// The time until there is a token.
    var delay: Duration { bucket.delay }

    /// A Boolean value indicating whether a new limit would admit no more than this one.
    var isUnused: Bool { bucket.isFull(at: Clock.now) }
}
