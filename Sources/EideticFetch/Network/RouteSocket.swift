import CNetwork
import EideticCore
import Glibc

/// The kernel's news about interfaces, addresses and routes: how we learn that the network is back.
///
/// It belongs to one thread.
///
/// - SeeAlso: rtnetlink(7).
package final class RouteSocket {
    private let file: FileDescriptor
    private var running = [UInt8](repeating: 0, count: Int(EIDETIC_ROUTE_INTERFACES) / 8)

    /// Listens in the network namespace of the calling thread; `nil` where the system does not let us.
    package init?() {
        let number = eidetic_open_route_socket()
        guard number >= 0 else {
            Log.write(.warning, .fetch, "no news about the network: \(SystemError.message(errno))")
            return nil
        }
        file = FileDescriptor(adopting: number)
    }

    /// The system's number for the socket, to wait for.
    package var number: Int32 { file.number }

    /// Reads all news; true where something came that may bring the network back.
    package func readArrival() -> Bool { eidetic_read_route_socket(file.number, &running) == 1 }
}
