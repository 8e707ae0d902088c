import EideticCore
import EideticFetch
import EideticTestSupport
import EideticTransfer
import EideticTransferEngine
import Glibc
import Testing

@Suite("identities of applications", .timeLimit(.minutes(1)))
struct IdentityTests {
    private let first = [UInt8](repeating: 1, count: 32), second = [UInt8](repeating: 2, count: 32)

    /// Returns the code of the error with which the service refuses a client.
    private func refusal(_ client: TransferClient) async -> EideticError.Code? {
        do throws(EideticError) { _ = try await client.transfers(in: nil) } catch { return error.code }
        return nil
    }

    @Test(
        "B14 a program without an application's secret can neither list nor change its transfers, also after a restart"
    )
    func secretsAreRequired() async throws {
        let directory = try TemporaryDirectory(named: "identity")
        let process = try ServiceProcess(in: directory)
        let owner = try process.connect(secret: first)
        try await owner.openSession(TransferSessionConfiguration(identifier: "s"))
        _ = try await owner.add([TransferRequest(download: "http://127.0.0.1:1/a")], to: "s")
        for _ in 0..<2 {
            #expect(await refusal(try process.connect(secret: second)) == .permissionDenied)
            #expect(await refusal(try process.connect()) == .permissionDenied)
            #expect(await refusal(try process.connect("org.example.Other", secret: second)) == nil)
            #expect(try await process.connect(secret: first).transfers(in: nil).count == 1)
            process.kill()
            try process.start()
        }
    }

    @Test("B14 an application that had no secret at first is protected from its first one on")
    func laterSecretsAreKept() async throws {
        let directory = try TemporaryDirectory(named: "identity")
        let process = try ServiceProcess(in: directory)
        let session = TransferSessionConfiguration(identifier: "s")
        try await process.connect().openSession(session)
        try await process.connect(secret: first).openSession(session)
        process.kill()
        try process.start()
        #expect(await refusal(try process.connect(secret: second)) == .permissionDenied)
        #expect(await refusal(try process.connect(secret: first)) == nil)
    }

    @Test("B14 the messages have secrets of at most 64 bytes", arguments: [63, 64, 65])
    func secretsAreBounded(_ count: Int) async throws {
        let directory = try TemporaryDirectory(named: "identity")
        let process = try ServiceProcess(in: directory)
        let client = try process.connect(secret: [UInt8](repeating: 1, count: count))
        #expect(await refusal(client) == (count > 64 ? .connectionLost : nil))
    }

    @Test("B14 an application's secret is created once, and readable by its user only")
    func secretsAreCreated() async throws {
        let directory = try TemporaryDirectory(named: "identity")
        let location = ServiceLocation(socketPath: nil, directory: directory.path(of: "transfers"))
        let secrets = try #require(ApplicationSecret(at: location))
        let all = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<8 { group.addTask { try secrets.load(for: "a/../b") } }
            return try await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
        }
        #expect(all.count == 1 && all.first?.count == ApplicationSecret.length)
        #expect(try secrets.load(for: "other") != all.first)
        #expect(try FileSystem().status(of: secrets.path(for: "a/../b")).permissions == 0o600)
        #expect(try FileSystem().entryNames(in: directory.path(of: "identities")).count == 2)
        let path = secrets.path(for: "other")
        chmod(path, 0o640)
        let readable = try #require(throws: SystemError.self) { try secrets.load(for: "other") }
        #expect(readable.description == "\(path) may be read or changed by others (mode 640): chmod 600 \(path)")
        #expect(EideticError(readable).code == .permissionDenied)
        chmod(path, 0o600)
        #expect(truncate(path, 7) == 0)
        let damaged = try #require(throws: SystemError.self) { try secrets.load(for: "other") }
        #expect(damaged.description.hasPrefix("\(path) is damaged"))
        #expect(EideticError(damaged).code == .permissionDenied)
    }
}
