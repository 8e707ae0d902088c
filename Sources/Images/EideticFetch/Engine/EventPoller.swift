import CCurl
import CNetwork
import EideticCore
import Glibc

/// An epoll instance for libcurl's sockets, its timer, the inbox and changes of the network.
///
/// libcurl registers the sockets that it waits for, and is called for ready sockets only (`curl_multi_socket_action`).
/// With `curl_multi_poll` it would query each of them from the system at every event. It is used on the engine's thread
/// only.
final class EventPoller {
    private let multiHandle: MultiHandle
    private var multi: UnsafeMutableRawPointer { multiHandle.pointer }
    private let epoll: FileDescriptor
    private let wakeupDescriptor: Int32
    private let routeSocket: RouteSocket?
    private let time = SystemTime()
    private var events = [epoll_event](repeating: epoll_event(), count: 64)
    /// The number of current events in `events`.
    private var eventCount = 0
    private var sockets = WatchedSockets()
    /// The number of calls in a row for nothing but bytes that OpenSSL has buffered.
    private var bufferedCallCount = 0
    /// The largest number of records that OpenSSL buffers for a socket, of at least 22 bytes each (RFC 8446, section
    /// 5.2).
    ///
    /// After as many calls libcurl does not read the remaining bytes for now.
    private static let maximumBufferedCalls = Int(EIDETIC_CURL_READ_AHEAD) / 22
    /// The number of exchanges for each socket above which they are assumed to share connections.
    private static let sharingThreshold = 4
    /// A Boolean value indicating whether the last pass over all exchanges may have missed bytes.
    private var mayHaveMissedBytes = false
    private var needsSecondPass = false
    private static let secondPassDelay = Duration.milliseconds(10)
    /// The time at which libcurl's timer expires, by the system's clock.
    private var timerDeadline: Duration?

    /// Creates an instance; traps if the system cannot create an epoll descriptor.
    init(multiHandle: MultiHandle, wakeupDescriptor: Int32, observesNetwork: Bool) {
        let number = epoll_create1(Int32(EPOLL_CLOEXEC))
        precondition(number >= 0, "epoll_create1 failed: \(SystemError.message(for: errno))")
        self.multiHandle = multiHandle
        self.wakeupDescriptor = wakeupDescriptor
        epoll = FileDescriptor(adopting: number)
        routeSocket = observesNetwork ? RouteSocket() : nil
        // Edge-triggered, so that the descriptor need not be reset after a wake-up.
        updateInterest(EPOLL_CTL_ADD, of: wakeupDescriptor, events: EPOLLIN.rawValue | EPOLLET.rawValue)
        if let routeSocket { updateInterest(EPOLL_CTL_ADD, of: routeSocket.descriptor, events: EPOLLIN.rawValue) }
        for option in [CURLMOPT_SOCKETDATA, CURLMOPT_TIMERDATA] {
            eidetic_curl_multi_set_pointer(multi, option, Unmanaged.passUnretained(self).toOpaque())
        }
        eidetic_curl_multi_set_watcher(multi, CURLMOPT_SOCKETFUNCTION) { easy, socket, activity, context, _ in
            if let context, let easy { poller(context).watch(socket, activity: activity, easy: easy) }
            return 0
        }
        eidetic_curl_multi_set_timer(multi, CURLMOPT_TIMERFUNCTION) { _, milliseconds, context in
            if let context { poller(context).setTimer(milliseconds: milliseconds) }
            return 0
        }
    }

    deinit {
        eidetic_curl_multi_set_watcher(multi, CURLMOPT_SOCKETFUNCTION, nil)
        eidetic_curl_multi_set_timer(multi, CURLMOPT_TIMERFUNCTION, nil)
    }

    /// Sleeps until an event occurs.
    ///
    /// - Parameter timeout: The longest time to sleep; `nil` for no limit.
    /// - Returns: `true` if there is an event, or if OpenSSL has buffered bytes; otherwise, `false`.
    func wait(timeout: Duration?) -> Bool {
        sockets.findBufferedSockets()
        let hasBufferedBytes = !sockets.bufferedSockets.isEmpty
        let maySleep = timeout != .zero
        var pollTimeout = timeout
        if hasBufferedBytes || mayHaveMissedBytes {
            pollTimeout = min(timeout ?? Self.secondPassDelay, Self.secondPassDelay)
        }
        if hasBufferedBytes && bufferedCallCount < Self.maximumBufferedCalls { pollTimeout = .zero }
        defer { needsSecondPass = mayHaveMissedBytes && maySleep && eventCount == 0 }
        let result = epoll_wait(epoll.rawValue, &events, Int32(events.count), epollMilliseconds(for: pollTimeout))
        eventCount = max(0, Int(result))
        bufferedCallCount = eventCount == 0 && hasBufferedBytes ? bufferedCallCount + 1 : 0
        return eventCount > 0 || hasBufferedBytes
    }

    /// Calls libcurl for the current events.
    ///
    /// Over HTTP/2 many exchanges share a connection, and its bytes may belong to any of them. libcurl would then
    /// process all of them in turn for each event, which takes longer than a single pass over all exchanges. In such a
    /// pass it may miss an exchange whose bytes arrived together with those of a later one. So a second pass follows
    /// when no event is left.
    ///
    /// - Returns: `true` if a change may have restored the network; otherwise, `false`.
    func dispatchEvents(exchangeCount: Int) -> Bool {
        var hasNetworkChange = false
        var hasReadySocket = false
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
            // Buffered bytes keep the poller from sleeping, so the second pass is still to come.
            mayHaveMissedBytes = hasReadySocket || !sockets.bufferedSockets.isEmpty
        }
        readBufferedBytes()
        return hasNetworkChange
    }

    /// Calls libcurl for the bytes that OpenSSL has buffered, except for sockets that had an event.
    private func readBufferedBytes() {
        for socket in sockets.bufferedSockets where !events[..<eventCount].contains(where: { $0.data.fd == socket }) {
            if sockets.contains(socket) { performAction(on: socket, events: EPOLLIN.rawValue) }
        }
    }

    /// Calls libcurl if its timer has expired.
    func fireExpiredTimer() {
        guard let timerDeadline, timerDeadline <= time.uptime else { return }
        self.timerDeadline = nil
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
        let untilDeadline = timerDeadline.map { max(.zero, $0 - time.uptime) }
        guard let shortest = [timeout, untilDeadline].compactMap({ $0 }).min() else { return -1 }
        return Int32(min(shortest.inMilliseconds.rounded(.up), Double(Int32.max)))
    }

    private func setTimer(milliseconds: Int) {
        timerDeadline = milliseconds < 0 ? nil : time.uptime + .milliseconds(milliseconds)
    }

    private func watch(_ socket: Int32, activity: Int32, easy: UnsafeMutableRawPointer) {
        if let change = sockets.update(socket, activity: activity, easy: easy) {
            updateInterest(change.operation, of: socket, events: change.events)
        }
    }

    private func updateInterest(_ operation: Int32, of descriptor: Int32, events: UInt32) {
        var event = epoll_event(events: events, data: epoll_data_t(fd: descriptor))
        _ = epoll_ctl(epoll.rawValue, operation, descriptor, &event)
    }
}

private func poller(_ context: UnsafeMutableRawPointer) -> EventPoller {
    Unmanaged<EventPoller>.fromOpaque(context).takeUnretainedValue()
}
