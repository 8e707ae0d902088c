import CNetwork
import EideticCore
import Glibc

/// Notices that the machine came to a network, or left one: the kernel says that something changed, and this what.
///
/// - SeeAlso: rtnetlink(7)
struct ConnectivitySource: NoticeSource {
    let descriptor: Int32
    private var connectedInterfaces: [String]

    /// `nil` where the kernel tells nobody.
    init?() {
        descriptor = eidetic_open_route_socket()
        connectedInterfaces = Self.findConnectedInterfaces()
        if descriptor < 0 { return nil }
    }

    /// One notice where other interfaces are connected than at the last look.
    mutating func read() -> [Notice] {
        guard drainSocket() else { return [] }
        let now = Self.findConnectedInterfaces()
        guard now != connectedInterfaces else { return [] }
        connectedInterfaces = now
        let payload = ["interfaces": now.joined(separator: ","), "isConnected": now.isEmpty ? "false" : "true"]
        return [Notice(.connectivityChanged, payload: payload)]
    }

    /// Takes what has come, for what it says is asked for afterwards; more than the kernel keeps is news as well.
    private func drainSocket() -> Bool {
        var bytes = [UInt8](repeating: 0, count: 1 << 14)
        var isNew = false
        while recv(descriptor, &bytes, bytes.count, 0) > 0 || errno == ENOBUFS || errno == EINTR {
            isNew = true
            errno = 0
        }
        return isNew
    }

    /// Interfaces that run and have an address that is good for more than this machine and its own link, sorted.
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
            // fe80::/10 reaches the own link only.
            return address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { pointer in
                withUnsafeBytes(of: pointer.pointee.sin6_addr) { $0[0] != 0xfe || $0[1] & 0xc0 != 0x80 }
            }
        default: return false
        }
    }
}
