import EideticCore
import Glibc

/// A network namespace of one thread, with nothing but its loopback interface.
enum NetworkNamespace {
    /// Runs `body` on a new thread in a new network namespace, which inherited threads share.
    ///
    /// - Returns: The result of `body`, or `nil` if the system does not allow namespaces.
    static func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value? {
        await withCheckedContinuation { continuation in
            Thread.start(name: "namespace") { continuation.resume(returning: unshareNetwork() ? body() : nil) }
        }
    }

    private static func unshareNetwork() -> Bool {
        typealias Unshare = @convention(c) (Int32) -> Int32
        guard let symbol = dlsym(nil, "unshare") else { return false }
        let newNetwork: Int32 = 0x4000_0000
        return unsafeBitCast(symbol, to: Unshare.self)(newNetwork) == 0
    }

    /// Adds an IPv4 address to the loopback interface, which has the index 1.
    static func addAddress(_ address: [UInt8]) -> Bool { change(address, by: .add) }

    /// A change of an address.
    enum AddressChange { case add, replace, remove }

    /// Changes the addresses of the loopback interface (`RTM_NEWADDR`, `RTM_DELADDR`).
    static func change(_ address: [UInt8], by change: AddressChange) -> Bool {
        let isRemoval = change == .remove
        let flags: UInt8 = isRemoval ? 0 : change == .add ? 0x06 : 0x05
        let header: [UInt8] = [40, 0, 0, 0, isRemoval ? 21 : 20, 0, 0x01, flags, 1, 0, 0, 0, 0, 0, 0, 0]
        let body: [UInt8] = [UInt8(AF_INET), 32, 0, 0, 1, 0, 0, 0]
        return sendToKernel(header + body + [8, 0, 2, 0] + address + [8, 0, 1, 0] + address)
    }

    /// Brings the loopback interface up (`RTM_NEWLINK` with `IFF_UP`).
    static func bringUp() -> Bool {
        let header: [UInt8] = [32, 0, 0, 0, 16, 0, 0x01, 0, 1, 0, 0, 0, 0, 0, 0, 0]
        let up: [UInt8] = [1, 0, 0, 0]
        return sendToKernel(header + [0, 0, 0, 0, 1, 0, 0, 0] + up + up)
    }

    private static func sendToKernel(_ message: [UInt8]) -> Bool {
        let number = Glibc.socket(AF_NETLINK, Int32(SOCK_RAW.rawValue), 0)
        defer { close(number) }
        return send(number, message, message.count, 0) == message.count
    }
}
