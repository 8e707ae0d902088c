import CNetwork
import Glibc

/// A source of notices that other network interfaces are connected: the kernel reports a change, and the interfaces are
/// compared with the previous ones.
///
/// - SeeAlso: rtnetlink(7)
struct ConnectivitySource: NoticeSource {
    let descriptor: Int32
    private var connectedInterfaces: [String]

    /// Opens the socket; `nil` if the kernel has none.
    init?() {
        descriptor = eidetic_open_route_socket()
        connectedInterfaces = Self.findConnectedInterfaces()
        if descriptor < 0 { return nil }
    }

    /// Returns a notice if the connected interfaces differ from those at the last call.
    mutating func read() -> [Notice] {
        guard drainSocket() else { return [] }
        let now = Self.findConnectedInterfaces()
        guard now != connectedInterfaces else { return [] }
        connectedInterfaces = now
        let payload = ["interfaces": now.joined(separator: ","), "isConnected": now.isEmpty ? "false" : "true"]
        return [Notice(.connectivityChanged, payload: payload)]
    }

    /// Discards the kernel's messages, and returns whether there were any; an overflow counts as a message.
    private func drainSocket() -> Bool {
        var bytes = [UInt8](repeating: 0, count: 1 << 14)
        var isNew = false
        while recv(descriptor, &bytes, bytes.count, 0) > 0 || errno == ENOBUFS || errno == EINTR {
            isNew = true
            errno = 0
        }
        return isNew
    }

    /// Returns the sorted names of the running interfaces with an address beyond this machine and its link.
    private static func findConnectedInterfaces() -> [String] {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return [] }
        defer { freeifaddrs(first) }
        var names: Set<String> = []
        var next = first
        while let entry = next?.pointee {
            if isUsable(entry) { names.insert(String(cString: entry.ifa_name)) }
            next = entry.ifa_next
        }
        return names.sorted()
    }

    private static func isUsable(_ entry: ifaddrs) -> Bool {
        let flags = Int(entry.ifa_flags)
        guard flags & IFF_UP != 0, flags & IFF_RUNNING != 0, flags & IFF_LOOPBACK == 0 else { return false }
        guard let address = entry.ifa_addr else { return false }
        switch Int32(address.pointee.sa_family) {
        case AF_INET: return true
        case AF_INET6:
            // fe80::/10 is valid on the local link only.
            return address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { pointer in
                withUnsafeBytes(of: pointer.pointee.sin6_addr) { $0[0] != 0xfe || $0[1] & 0xc0 != 0x80 }
            }
        default: return false
        }
    }
}
