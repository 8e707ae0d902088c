import EideticCore
import EideticFetch
import EideticTestSupport
import EideticTransfer
import EideticTransferEngine
import Glibc
import Testing

/// A network namespace with nothing but its loopback interface, which is down at first.
///
/// A thread lives in it, and so does all that this thread starts.
private final class NetworkNamespace: Sendable {
    private let work = Monitor([@Sendable () -> Void]())
    let isSupported: Bool

    init() async {
        let work = work
        isSupported = await withCheckedContinuation { continuation in
            Thread.start(name: "namespace") {
                typealias Unshare = @convention(c) (Int32) -> Int32
                let newNetwork: Int32 = 0x4000_0000
                let isDone = dlsym(nil, "unshare").map { unsafeBitCast($0, to: Unshare.self)(newNetwork) == 0 } ?? false
                continuation.resume(returning: isDone)
                while isDone { work.wait { $0.isEmpty ? nil : $0.removeFirst() }() }
            }
        }
    }

    /// Runs a function on the thread.
    func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            work.withLock { $0.append { continuation.resume(returning: body()) } }
            work.signal()
        }
    }

    /// Brings the loopback interface, which has the index 1, up (`RTM_NEWLINK` with `IFF_UP`).
    static func bringUp() {
        let header: [UInt8] = [32, 0, 0, 0, 16, 0, 0x01, 0, 1, 0, 0, 0, 0, 0, 0, 0]
        let up: [UInt8] = [1, 0, 0, 0]
        sendToKernel(header + [0, 0, 0, 0, 1, 0, 0, 0] + up + up)
    }

    /// Adds an address to the loopback interface (`RTM_NEWADDR`).
    static func add(_ address: [UInt8]) {
        let header: [UInt8] = [40, 0, 0, 0, 20, 0, 0x01, 0x06, 1, 0, 0, 0, 0, 0, 0, 0]
        let body: [UInt8] = [UInt8(AF_INET), 32, 0, 0, 1, 0, 0, 0]
        sendToKernel(header + body + [8, 0, 2, 0] + address + [8, 0, 1, 0] + address)
    }

    private static func sendToKernel(_ message: [UInt8]) {
        let number = Glibc.socket(AF_NETLINK, Int32(SOCK_RAW.rawValue), 0)
        defer { close(number) }
        _ = send(number, message, message.count, 0)
    }
}

@Suite("transfers and the network", .timeLimit(.minutes(1)))
struct NetworkTests {
    private struct Started: Sendable {
        let process: ServiceProcess
        let origin: ScriptedOrigin
    }

    /// Starts an origin and the transfer process in a namespace; `nil` if the system does not allow namespaces.
    private func start(
        _ directory: TemporaryDirectory,
        in namespace: NetworkNamespace,
        script: @escaping ScriptedOrigin.Script
    ) async throws -> Started? {
        guard namespace.isSupported else {
            print("skipped: the system does not allow network namespaces")
            return nil
        }
        return await namespace.run {
            guard let origin = try? ScriptedOrigin(on: .any, script: script),
                let process = try? ServiceProcess(in: directory)
            else { return nil }
            return Started(process: process, origin: origin)
        }
    }

    @Test("B14 without a network a transfer waits with that reason, and goes on when the network returns")
    func transfersWaitForTheNetwork() async throws {
        let directory = try TemporaryDirectory(named: "network")
        let namespace = await NetworkNamespace()
        guard let started = try await start(directory, in: namespace, script: { _ in [.response(body: [1, 2])] }) else {
            return
        }
        let client = try started.process.connect()
        try await client.openSession(TransferSessionConfiguration(identifier: "s"))
        let log = EventLog()
        let observation = try await client.observe("s") { log.record($0) }
        let urls = ["http://127.0.0.1:\(started.origin.port)/a", "http://nowhere.invalid/a"]
        let transfers = try await client.add(urls.map { TransferRequest(download: $0) }, to: "s")
        for transfer in transfers {
            try await eventually("reasons of transfer \(transfer)", is: [.network]) {
                try await client.transfers(in: "s").first { $0.identifier == transfer }?.reasons.map(\.code)
            }
        }
        await namespace.run { NetworkNamespace.bringUp() }
        let event = await log.waitForEvents(1)[0]
        #expect(event.outcome.isFinished && event.transfer == transfers[0])
        withExtendedLifetime(observation) {}
    }

    /// Transfers in a session of its own, and returns the event of the end.
    private func transfer(
        _ request: TransferRequest,
        by client: TransferClient,
        allowingPrivateRedirects isAllowed: Bool
    ) async throws -> TransferEvent {
        var session = TransferSessionConfiguration(identifier: "\(isAllowed)")
        session.allowsPrivateRedirects = isAllowed
        try await client.openSession(session)
        let log = EventLog()
        let observation = try await client.observe(session.identifier) { log.record($0) }
        _ = try await client.add([request], to: session.identifier)
        defer { withExtendedLifetime(observation) {} }
        return await log.waitForEvents(1)[0]
    }

    @Test("B14 a redirect from a public address does not lead to this machine, unless the session allows it")
    func redirectsDoNotLeadToPrivateAddresses() async throws {
        let directory = try TemporaryDirectory(named: "network")
        let namespace = await NetworkNamespace()
        let started = try await start(directory, in: namespace) { request in
            guard request.path == "/a" else { return [.response(body: [1, 2])] }
            let port = request.headers["host"]?.split(separator: ":").last ?? ""
            return [.response(302, headers: ["Location": "http://127.0.0.1:\(port)/b"])]
        }
        guard let started else { return }
        await namespace.run {
            NetworkNamespace.bringUp()
            NetworkNamespace.add([9, 9, 9, 9])
        }
        let client = try started.process.connect()
        for isAllowed in [false, true] {
            let request = TransferRequest(download: "http://9.9.9.9:\(started.origin.port)/a")
            let event = try await transfer(request, by: client, allowingPrivateRedirects: isAllowed)
            if isAllowed {
                #expect(event.outcome.isFinished)
            } else if case .failed(let code, _) = event.outcome {
                #expect(code == "badRedirect")
            } else {
                Issue.record("the redirect was followed")
            }
        }
    }

    @Test("B14 a public server does not direct an upload to this machine, unless the session allows it")
    func uploadsAreNotDirectedToPrivateAddresses() async throws {
        let directory = try TemporaryDirectory(named: "network")
        let namespace = await NetworkNamespace()
        let started = try await start(directory, in: namespace) { request in
            let port = request.headers["host"]?.split(separator: ":").last ?? ""
            let location = "Location: http://127.0.0.1:\(port)/b"
            if request.method == "PUT" {
                return [.send(Array("HTTP/1.1 104 Resumption\r\n\(location)\r\n\r\n".utf8)), .close]
            }
            return [.send(Array("HTTP/1.1 204 No Content\r\nUpload-Complete: ?1\r\n\r\n".utf8))]
        }
        guard let started else { return }
        await namespace.run {
            NetworkNamespace.bringUp()
            NetworkNamespace.add([9, 9, 9, 9])
        }
        let path = try directory.write(Body.bytes(100), to: "file")
        let client = try started.process.connect()
        for isAllowed in [false, true] {
            let request = TransferRequest(upload: path, to: "http://9.9.9.9:\(started.origin.port)/a")
            let event = try await transfer(request, by: client, allowingPrivateRedirects: isAllowed)
            #expect(event.outcome.isFinished == isAllowed)
            #expect(started.origin.requests.contains { $0.path == "/b" } == isAllowed)
        }
    }
}
