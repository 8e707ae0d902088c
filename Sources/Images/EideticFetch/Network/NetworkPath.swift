import CNetwork
import EideticCore
import Glibc

/// The network as far as a download that has failed can know it; tests replace it.
package protocol NetworkPath: Sendable {
    /// A Boolean value indicating whether the machine has a way to other networks.
    ///
    /// It is asked on a thread of the downloader.
    var isAvailable: Bool { get }
}

/// The routes of the kernel.
struct SystemNetworkPath: NetworkPath {
    var isAvailable: Bool { eidetic_route_exists() == 1 }
}

extension EideticError {
    /// A Boolean value indicating whether a missing network may be the cause: the host may be there, but nothing was
    /// heard of it.
    var mayLackNetwork: Bool {
        switch code {
        case .hostNotFound, .timedOut: true
        case .connectionRefused, .connectionLost:
            systemErrorNumber.map { [ENETUNREACH, EHOSTUNREACH, ENETDOWN, EADDRNOTAVAIL, ENONET].contains($0) } ?? false
        default: false
        }
    }
}
