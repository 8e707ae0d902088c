import CNetwork
import EideticCore
import Glibc

/// A netlink socket that receives changes of interfaces, addresses and routes from the kernel.
///
/// It is used on one thread only.
///
/// - SeeAlso: rtnetlink(7).
package final class RouteSocket {
    private let route: OpaquePointer

    /// Opens a socket in the network namespace of the calling thread; `nil` if the system does not allow it.
    package init?() {
        guard let route = eidetic_route_open() else {
            Log.write(
                .warning,
                category: .fetch,
                message: "changes of the network are not observed: \(SystemError.message(for: errno))"
            )
            return nil
        }
        self.route = route
    }

    deinit { eidetic_route_close(route) }

    /// The file descriptor of the socket, for polling.
    package var descriptor: Int32 { eidetic_route_socket(route) }

    /// Reads all pending messages.
    ///
    /// - Returns: `true` if a message announces an interface, an address or a route that may restore the connection;
    ///   otherwise, `false`.
    package func readChanges() -> Bool { eidetic_route_read(route) == 1 }
}
