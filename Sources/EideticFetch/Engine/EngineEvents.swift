import CCurl
import CNetwork
import EideticCore
import Glibc

/// Waits for libcurl's sockets, its timer, the inbox and news of the network, all in one place.
///
/// libcurl says which sockets it waits for, and is told of those alone that are ready (`curl_multi_socket_action`). With
/// `curl_multi_poll` it asks the system about each of them, one by one, whenever anything happens. Lives on the engine's
/// thread alone.
final class EventPoller {
    private let multiHandle: MultiHandle
    private var multi: UnsafeMutableRawPointer { multiHandle.pointer }
    private let epoll: FileDescriptor
    private let wakeupDescriptor: Int32
    private let routeSocket: RouteSocket?
    private let time = SystemTime()
    private var events = [epoll_event](repeating: epoll_event(), count: 64)
    /// How many of those came.
    private var eventCount = 0
    private var sockets = WatchedSockets()
    /// How often in a row libcurl was called for bytes alone that OpenSSL held.
    private var bufferedCallCount = 0
    /// So many records at most, of 22 bytes, are held for a socket (RFC 8446, 5.2): what is left then is not wanted yet.
    private static let maximumBufferedCalls = Int(EIDETIC_CURL_READ_AHEAD) / 22
    /// With so many transfers for each socket they share connections.
    private static let sharingThreshold = 4
    /// Whether libcurl was made to go through all transfers, since when nothing was quiet.
    private var mayHaveMissedBytes = false
    /// Whether it is quiet, and they are to be gone through once more.
    private var needsSecondPass = false
    private static let secondPassDelay = Duration.milliseconds(10)
    /// When libcurl wants to be called although nothing has happened, by the system's clock.
    private var deadline: Duration?

    /// A machine that can give no epoll cannot go on: traps.
    init(multiHandle: MultiHandle, wakeupDescriptor: Int32, observesNetwork: Bool) {
        let number = epoll_create1(Int32(EPOLL_CLOEXEC))
        precondition(number >= 0, "no epoll: \(SystemError.message(for: errno))")
        self.multiHandle = multiHandle
        self.wakeupDescriptor = wakeupDescriptor
        epoll = FileDescriptor(adopting: number)
        routeSocket = observesNetwork ? RouteSocket() : nil
        // Each ring of the bell is an event of its own, so that nobody need reset it.
        updateInterest(EPOLL_CTL_ADD, of: wakeupDescriptor, events: EPOLLIN.rawValue | EPOLLET.rawValue)
        if let routeSocket { updateInterest(EPOLL_CTL_ADD, of: routeSocket.descriptor, events: EPOLLIN.rawValue) }
        let context = Unmanaged.passUnretained(self).toOpaque()
        eidetic_curl_multi_set_watchers(multiHandle.pointer, socketCallback, timerCallback, context)
    }

    deinit { eidetic_curl_multi_set_watchers(multi, nil, nil, nil) }

    /// Sleeps until something happens, `longest` at most where there is one; gives whether anything did.
    func wait(timeout: Duration?) -> Bool {
        sockets.findBufferedSockets()
        let hasBufferedBytes = !sockets.bufferedSockets.isEmpty
        let maySleep = timeout != .zero
        var epollTimeout = timeout
        if hasBufferedBytes || mayHaveMissedBytes {
            epollTimeout = min(timeout ?? Self.secondPassDelay, Self.secondPassDelay)
        }
        if hasBufferedBytes && bufferedCallCount < Self.maximumBufferedCalls { epollTimeout = .zero }
        defer { needsSecondPass = mayHaveMissedBytes && maySleep && eventCount == 0 }
        eventCount = max(
            0,
            Int(epoll_wait(epoll.rawValue, &events, Int32(events.count), epollMilliseconds(for: epollTimeout)))
        )
        bufferedCallCount = eventCount == 0 && hasBufferedBytes ? bufferedCallCount + 1 : 0
        return eventCount > 0 || hasBufferedBytes
    }

    /// Lets libcurl do what is to be done for the transfers, after something happened.
    ///
    /// Over HTTP/2 many share a connection, and what comes there may be for any of them: libcurl then has all of them in
    /// line one by one, which takes longer than to go through them once. In doing so it may forget a transfer whose bytes
    /// came with those of a later one: when it is quiet, it goes through them once more.
    ///
    /// - Returns: Whether something came that may bring the network back.
    func dispatchEvents(exchangeCount: Int) -> Bool {
        var hasNetworkChange = false, hasReadySocket = false
        let sharesConnections = exchangeCount >= Self.sharingThreshold * max(1, sockets.count)
        for event in events[..<eventCount] {
            switch event.data.fd {
            case wakeupDescriptor: break
            case routeSocket?.descriptor: hasNetworkChange = routeSocket?.readChanges() ?? false || hasNetworkChange
            default:
                if sharesConnections {
                    hasReadySocket = true
                } else {
                    performAction(on: event.data.fd, events: event.events)
                }
            }
        }
        if hasReadySocket || needsSecondPass {
            eidetic_curl_multi_act_on_all(multi)
            // Bytes that are held make it busy, so that the look at quiet is still to come.
            mayHaveMissedBytes = hasReadySocket || !sockets.bufferedSockets.isEmpty
        }
        readBufferedBytes()
        return hasNetworkChange
    }

    /// Lets libcurl read what OpenSSL holds, unless it was called for that socket just now.
    private func readBufferedBytes() {
        for socket in sockets.bufferedSockets where !events[..<eventCount].contains(where: { $0.data.fd == socket }) {
            if sockets.contains(socket) { performAction(on: socket, events: EPOLLIN.rawValue) }
        }
    }

    /// Lets libcurl do what it wanted to do at a time that has come.
    func fireExpiredTimer() {
        guard let deadline, deadline <= time.uptime else { return }
        self.deadline = nil
        var running: Int32 = 0
        curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running)
    }

    private func performAction(on socket: Int32, events: UInt32) {
        var action: Int32 = 0
        if events & EPOLLIN.rawValue != 0 { action |= CURL_CSELECT_IN }
        if events & EPOLLOUT.rawValue != 0 { action |= CURL_CSELECT_OUT }
        if events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { action |= CURL_CSELECT_ERR }
        var running: Int32 = 0
        curl_multi_socket_action(multi, socket, action, &running)
    }

    private func epollMilliseconds(for timeout: Duration?) -> Int32 {
        let untilDeadline = deadline.map { max(.zero, $0 - time.uptime) }
        guard let shortest = [timeout, untilDeadline].compactMap({ $0 }).min() else { return -1 }
        return Int32(min(shortest.inMilliseconds.rounded(.up), Double(Int32.max)))
    }

    fileprivate func setTimer(milliseconds: Int) {
        deadline = milliseconds < 0 ? nil : time.uptime + .milliseconds(milliseconds)
    }

    fileprivate func watch(_ socket: Int32, activity: Int32, easy: UnsafeMutableRawPointer) {
        if let change = sockets.update(socket, activity: activity, easy: easy) {
            updateInterest(change.operation, of: socket, events: change.wanted)
        }
    }

    private func updateInterest(_ operation: Int32, of descriptor: Int32, events: UInt32) {
        var event = epoll_event(events: events, data: epoll_data_t(fd: descriptor))
        _ = epoll_ctl(epoll.rawValue, operation, descriptor, &event)
    }
}

private func socketCallback(
    _ easy: UnsafeMutableRawPointer?,
    _ socket: curl_socket_t,
    _ activity: Int32,
    _ context: UnsafeMutableRawPointer?,
    _ socketData: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context, let easy else { return 0 }
    Unmanaged<EventPoller>.fromOpaque(context).takeUnretainedValue().watch(socket, activity: activity, easy: easy)
    return 0
}

private func timerCallback(_ multi: UnsafeMutableRawPointer?, _ milliseconds: Int, _ context: UnsafeMutableRawPointer?)
    -> Int32
{
    if let context {
        Unmanaged<EventPoller>.fromOpaque(context).takeUnretainedValue().setTimer(milliseconds: milliseconds)
    }
    return 0
}
