import CSupervisor
import EideticCore
import Glibc

/// A connection by which other programs reach a suspended application, as a copy of its descriptor.
///
/// The copy shows without any look at a clock that something waits for the application.
final class CallerConnection {
    let source: ShortThaws.Source
    private let descriptor: FileDescriptor
    private var watch: Poller.Watch?
    /// A Boolean value indicating whether the other end was closed, which the application has been shown once.
    private var hasEnded = false

    private init(source: ShortThaws.Source, adopting number: Int32) {
        self.source = source
        descriptor = FileDescriptor(adopting: number)
    }

    // While the descriptor is open: its registration would stay with the open file, which the application has as well.
    deinit { watch = nil }

    /// The number of bytes that the application has not read.
    var unreadCount: Int {
        var count: Int32 = 0
        return ioctl(descriptor.rawValue, UInt(FIONREAD), &count) == 0 ? Int(count) : 0
    }

    /// A Boolean value indicating whether the application has something to read, or the end of the connection to see.
    var isReady: Bool {
        var polled = pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)
        return !hasEnded && poll(&polled, 1, 0) == 1
    }

    /// Calls a function once, when something is there to be read.
    func watch(with poller: Poller, whenReady body: @escaping () -> Void) {
        guard !hasEnded else { return }
        watch = poller.watch(descriptor.rawValue) { [unowned self] in
            watch = nil
            hasEnded = unreadCount == 0
            body()
        }
    }

    func endWatch() { watch = nil }

    // MARK: The connections of a process

    /// The outcome of a search.
    struct Search {
        var connections: [CallerConnection] = []
        /// A Boolean value indicating whether descriptors of a process could not be copied.
        var isRefused = false
    }

    /// Returns the connections of processes to displays and message buses.
    static func all(of processes: [Int32]) -> Search {
        var search = Search()
        for process in processes { add(connectionsOf: process, to: &search) }
        return search
    }

    private static func add(connectionsOf process: Int32, to search: inout Search) {
        guard let handle = ProcessHandle(identifier: process) else { return }
        let bus = ProcessStatus.environmentValue(of: "DBUS_SESSION_BUS_ADDRESS", in: process)
        let display = ProcessStatus.environmentValue(of: "WAYLAND_DISPLAY", in: process)
        let files = FileSystem()
        for number in KernelFile.names(in: "/proc/\(process)/fd").compactMap({ Int32($0) }) {
            guard let target = try? files.linkTarget(of: "/proc/\(process)/fd/\(number)"), target.hasPrefix("socket:")
            else { continue }
            let copy = eidetic_copy_descriptor(handle.rawValue, number)
            guard copy >= 0 else {
                search.isRefused = search.isRefused || errno == EPERM
                if errno == EPERM { return }
                continue
            }
            let source = peerName(of: copy).flatMap {
                ShortThaws.Source(peer: $0, sessionBus: bus, waylandDisplay: display)
            }
            guard let source else {
                close(copy)
                continue
            }
            search.connections.append(CallerConnection(source: source, adopting: copy))
        }
    }

    /// Returns the address of the other end, as `/tmp/.X11-unix/X0`, or `tcp:6010` on this machine.
    private static func peerName(of number: Int32) -> String? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let status = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(number, $0, &length) }
        }
        guard status == 0 else { return nil }
        let bytes = withUnsafeBytes(of: storage) { Array($0.prefix(Int(length))) }
        switch Int32(storage.ss_family) {
        case AF_UNIX:
            // An abstract name begins with a zero byte.
            let name = bytes.dropFirst(MemoryLayout<sa_family_t>.size).drop { $0 == 0 }.prefix { $0 != 0 }
            return name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
        case AF_INET where bytes.count >= 8 && bytes[4] == 127: return "tcp:\(Int(bytes[2]) << 8 | Int(bytes[3]))"
        default: return nil
        }
    }
}
