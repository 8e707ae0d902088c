import CCurl
import CNetwork
import EideticCore
import Glibc

/// Waits for libcurl's sockets, its timer, the inbox and news of the network, all in one place.
///
/// libcurl says which sockets it waits for, and is told of those alone that are ready (`curl_multi_socket_action`). With
/// `curl_multi_poll` it asks the system about each of them, one by one, whenever anything happens. Lives on the engine's
/// thread alone.
final class EngineEvents {
    private let curl: CurlMulti
    private var multi: UnsafeMutableRawPointer { curl.handle }
    private let queue: FileDescriptor
    private let bell: Int32
    private let route: RouteSocket?
    private let time = SystemTime()
    private var events = [epoll_event](repeating: epoll_event(), count: 64)
    /// How many of those came.
    private var count = 0
    private var sockets = WatchedSockets()
    /// How often in a row libcurl was called for bytes alone that OpenSSL held.
    private var calls = 0
    /// So many records at most, of 22 bytes, are held for a socket (RFC 8446, 5.2): what is left then is not wanted yet.
    private static let mostCalls = Int(EIDETIC_CURL_READ_AHEAD) / 22
    /// With so many transfers for each socket they share connections.
    private static let crowd = 4
    /// Whether libcurl was made to go through all transfers, since when nothing was quiet.
    private var mayHaveMissed = false
    /// Whether it is quiet, and they are to be gone through once more.
    private var isSecondLook = false
    private static let secondLook = Duration.milliseconds(10)
    /// When libcurl wants to be called although nothing has happened, by the system's clock.
    private var deadline: Duration?

    /// A machine that can give no epoll cannot go on: traps.
    init(_ curl: CurlMulti, bell: Int32, observesNetwork: Bool) {
        let number = epoll_create1(Int32(EPOLL_CLOEXEC))
        precondition(number >= 0, "no epoll: \(SystemError.message(errno))")
        self.curl = curl
        self.bell = bell
        queue = FileDescriptor(adopting: number)
        route = observesNetwork ? RouteSocket() : nil
        // Each ring of the bell is an event of its own, so that nobody need reset it.
        change(EPOLL_CTL_ADD, bell, EPOLLIN.rawValue | EPOLLET.rawValue)
        if let route { change(EPOLL_CTL_ADD, route.number, EPOLLIN.rawValue) }
        let context = Unmanaged.passUnretained(self).toOpaque()
        eidetic_curl_multi_set_watchers(curl.handle, watchSocket, watchTime, context)
    }

    deinit { eidetic_curl_multi_set_watchers(multi, nil, nil, nil) }

    /// Sleeps until something happens, `longest` at most where there is one; gives whether anything did.
    func wait(_ longest: Duration?) -> Bool {
        sockets.findHeld()
        let isHeld = !sockets.held.isEmpty
        let isQuiet = longest != .zero
        var pause = longest
        if isHeld || mayHaveMissed { pause = min(longest ?? Self.secondLook, Self.secondLook) }
        if isHeld && calls < Self.mostCalls { pause = .zero }
        defer { isSecondLook = mayHaveMissed && isQuiet && count == 0 }
        count = max(0, Int(epoll_wait(queue.number, &events, Int32(events.count), milliseconds(pause))))
        calls = count == 0 && isHeld ? calls + 1 : 0
        return count > 0 || isHeld
    }

    /// Lets libcurl do what is to be done for the transfers, after something happened.
    ///
    /// Over HTTP/2 many share a connection, and what comes there may be for any of them: libcurl then has all of them in
    /// line one by one, which takes longer than to go through them once. In doing so it may forget a transfer whose bytes
    /// came with those of a later one: when it is quiet, it goes through them once more.
    ///
    /// - Returns: Whether something came that may bring the network back.
    func act(transfers: Int) -> Bool {
        var hasNews = false, isReady = false
        let isCrowded = transfers >= Self.crowd * max(1, sockets.count)
        for event in events[..<count] {
            switch event.data.fd {
            case bell: break
            case route?.number: hasNews = route?.readArrival() ?? false || hasNews
            default: if isCrowded { isReady = true } else { act(event.data.fd, event.events) }
            }
        }
        if isReady || isSecondLook {
            eidetic_curl_multi_act_on_all(multi)
            // Bytes that are held make it busy, so that the look at quiet is still to come.
            mayHaveMissed = isReady || !sockets.held.isEmpty
        }
        actOnHeld()
        return hasNews
    }

    /// Lets libcurl read what OpenSSL holds, unless it was called for that socket just now.
    private func actOnHeld() {
        for socket in sockets.held where !events[..<count].contains(where: { $0.data.fd == socket }) {
            if sockets.contains(socket) { act(socket, EPOLLIN.rawValue) }
        }
    }

    /// Lets libcurl do what it wanted to do at a time that has come.
    func keepTime() {
        guard let deadline, deadline <= time.uptime else { return }
        self.deadline = nil
        var running: Int32 = 0
        curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running)
    }

    private func act(_ socket: Int32, _ events: UInt32) {
        var action: Int32 = 0
        if events & EPOLLIN.rawValue != 0 { action |= CURL_CSELECT_IN }
        if events & EPOLLOUT.rawValue != 0 { action |= CURL_CSELECT_OUT }
        if events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { action |= CURL_CSELECT_ERR }
        var running: Int32 = 0
        curl_multi_socket_action(multi, socket, action, &running)
    }

    private func milliseconds(_ longest: Duration?) -> Int32 {
        let untilDeadline = deadline.map { max(.zero, $0 - time.uptime) }
        guard let wait = [longest, untilDeadline].compactMap({ $0 }).min() else { return -1 }
        return Int32(min(wait.inMilliseconds.rounded(.up), Double(Int32.max)))
    }

    fileprivate func set(timer: Int) { deadline = timer < 0 ? nil : time.uptime + .milliseconds(timer) }

    fileprivate func watch(_ socket: Int32, _ what: Int32, _ easy: UnsafeMutableRawPointer) {
        if let news = sockets.note(socket, what, easy) { change(news.operation, socket, news.wanted) }
    }

    private func change(_ operation: Int32, _ file: Int32, _ wanted: UInt32) {
        var event = epoll_event(events: wanted, data: epoll_data_t(fd: file))
        _ = epoll_ctl(queue.number, operation, file, &event)
    }
}

private func watchSocket(
    _ easy: UnsafeMutableRawPointer?,
    _ socket: curl_socket_t,
    _ what: Int32,
    _ context: UnsafeMutableRawPointer?,
    _ known: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context, let easy else { return 0 }
    Unmanaged<EngineEvents>.fromOpaque(context).takeUnretainedValue().watch(socket, what, easy)
    return 0
}

private func watchTime(_ multi: UnsafeMutableRawPointer?, _ wait: Int, _ context: UnsafeMutableRawPointer?) -> Int32 {
    if let context { Unmanaged<EngineEvents>.fromOpaque(context).takeUnretainedValue().set(timer: wait) }
    return 0
}
