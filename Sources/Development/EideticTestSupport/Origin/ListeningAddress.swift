/// An address that a test's server listens on.
package enum ListeningAddress: Sendable {
    /// The address 127.0.0.1.
    case loopback
    /// The address 127.0.0.1 with a port that no process listens on.
    case port(Int)
    /// The address ::1.
    case loopback6
    /// Every IPv4 address of the machine, or of the network namespace of the thread that creates the server.
    case any

    /// A Boolean value indicating whether this machine's loopback interface supports IPv6.
    package static var hasIPv6: Bool { (try? ListeningSocket(on: .loopback6)) != nil }
}
