import EideticCore
import EideticFetch
import EideticTestSupport
import Glibc
import Testing

@Suite("News about the network")
struct NetworkNewsTests {
    /// What happened in a network namespace of its own.
    private enum Report: Sendable { case noNamespace(String), heard(before: Bool, after: Bool) }

    /// Moves a new thread into a network namespace of its own, listens there, and gives the loopback interface an address.
    private func listen() async -> Report {
        await withCheckedContinuation { continuation in
            Thread.start(name: "namespace") { continuation.resume(returning: Self.listenHere()) }
        }
    }

    private static func listenHere() -> Report {
        typealias Unshare = @convention(c) (Int32) -> Int32
        guard let symbol = dlsym(nil, "unshare") else { return .noNamespace("no unshare(2)") }
        let newNetwork: Int32 = 0x4000_0000
        guard unsafeBitCast(symbol, to: Unshare.self)(newNetwork) == 0 else {
            return .noNamespace(SystemError.message(errno))
        }
        guard let socket = RouteSocket() else { return .noNamespace("no route socket") }
        let before = socket.readArrival()
        guard addAddress() else { return .noNamespace(SystemError.message(errno)) }
        return .heard(before: before, after: socket.readArrival())
    }

    /// Sends `RTM_NEWADDR`: 198.51.100.1/32 for the interface with number 1, the loopback.
    private static func addAddress() -> Bool {
        let number = Glibc.socket(AF_NETLINK, Int32(SOCK_RAW.rawValue), 0)
        defer { close(number) }
        let header: [UInt8] = [40, 0, 0, 0, 20, 0, 0x01, 0x06, 1, 0, 0, 0, 0, 0, 0, 0]
        let address: [UInt8] = [UInt8(AF_INET), 32, 0, 0, 1, 0, 0, 0]
        let attributes: [UInt8] = [8, 0, 2, 0, 198, 51, 100, 1, 8, 0, 1, 0, 198, 51, 100, 1]
        let message = header + address + attributes
        return send(number, message, message.count, 0) == message.count
    }

    @Test("L07 the kernel tells when an address comes, and nothing before")
    func arrival() async {
        switch await listen() {
        case .noNamespace(let reason): withKnownIssue("no network namespace here: \(reason)") { Issue.record() }
        case .heard(let before, let after):
            #expect(!before)
            #expect(after)
        }
    }
}
