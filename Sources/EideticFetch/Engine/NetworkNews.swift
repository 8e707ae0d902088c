import CCurl
import Glibc

/// Lets the engine's one wait also hear of news about the network.
final class NetworkNews {
    private let socket: RouteSocket

    init?() {
        guard let socket = RouteSocket() else { return nil }
        self.socket = socket
    }

    /// Waits for libcurl's sockets, the inbox and the kernel; true where something came that may bring the network back.
    func wait(_ multi: UnsafeMutableRawPointer, _ milliseconds: Int32) -> Bool {
        var extra = curl_waitfd(fd: socket.number, events: Int16(CURL_WAIT_POLLIN), revents: 0)
        curl_multi_poll(multi, &extra, 1, milliseconds, nil)
        return extra.revents != 0 && socket.readArrival()
    }
}
