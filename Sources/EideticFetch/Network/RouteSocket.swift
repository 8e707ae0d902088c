import CNetwork
import EideticCore
import Glibc

/// The kernel's news about interfaces, addresses and routes: how we learn that the network is back.
///
/// It belongs to one thread.
///
/// - SeeAlso: rtnetlink(7).
package final class RouteSocket {
    private let route: OpaquePointer

    /// Listens in the network namespace of the calling thread; `nil` where the system does not let us.
    package init?() {
        guard let route = eidetic_route_open() else {
            Log.write(
                .warning,
                category: .fetch,
                message: "no news about the network: \(SystemError.message(for: errno))"
            )
            return nil
        }
        self.route = route
    }

    deinit { eidetic_route_close(route) }

    /// The system's number for the socket, to wait for.
    package var descriptor: Int32 { eidetic_route_socket(route) }

    /// Reads all news; true where something came that may bring the network back.
    package func readChanges() -> Bool { eidetic_route_read(route) == 1 }
}
