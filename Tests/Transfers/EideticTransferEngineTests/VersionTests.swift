import EideticCore
import EideticTestSupport
import EideticTransfer
import Glibc
import Testing

@testable import EideticTransferEngine

@Suite("applications, transfer processes and journals of other versions", .timeLimit(.minutes(1)))
struct VersionTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory(named: "versions") }

    private func startProcess() throws -> ServiceProcess {
        try ServiceProcess(in: directory)
    }

    private func receive(from socket: PacketSocket) throws -> [UInt8] {
        var polled = pollfd(fd: socket.rawValue, events: Int16(POLLIN), revents: 0)
        guard poll(&polled, 1, 60_000) == 1, case .packet(let packet) = try socket.receive() else {
            throw SystemError(.receive, errorNumber: EPROTO)
        }
        return packet.bytes
    }

    @Test("B14 an application of another version is told which of the two is too old", arguments: [-1, 1])
    func otherApplication(difference: Int) async throws {
        let process = try startProcess(), socket = try PacketSocket.connect(to: process.socketPath)
        let version = UInt32(Int(TransferCommand.version) + difference)
        let hello = NumberedMessage(
            number: 7,
            message: TransferCommand.hello(version: version, application: "a", secret: [])
        )
        // Behind the version is what only that version knows.
        #expect(try socket.send(WireWriter.encode(hello) + [9, 9, 9]))
        let reply = try WireReader.decode(NumberedMessage<TransferReply>.self, from: receive(from: socket))
        guard reply.number == 7, case .failed(let code, let message) = reply.message else {
            throw SystemError(.receive, errorNumber: EPROTO)
        }
        let old = difference < 0 ? "the application" : "the transfer process (package eidetic-background)"
        #expect(code == "refused" && message.hasSuffix("\(old) is too old and must be updated"), "\(message)")
        // Others are served.
        let client = try process.connect()
        #expect(try await client.transfers(in: nil).isEmpty && process.isRunning)
    }

    @Test("B14 an application beside a transfer process of another version receives its reason, for each command")
    func otherProcess() async throws {
        let (own, other) = try PacketSocket.makePair()
        let client = try TransferClient(socket: own, application: "a") {}
        let hello = try WireReader.decode(NumberedMessage<TransferCommand>.self, from: receive(from: other))
        let refusal = TransferReply.failed(code: "refused", message: "the application is too old")
        #expect(try other.send(WireWriter.encode(NumberedMessage(number: hello.number, message: refusal))))
        shutdown(other.rawValue, Int32(SHUT_RDWR))
        for _ in 0..<2 {
            let error = await #expect(throws: EideticError.self) { try await client.transfers(in: nil) }
            #expect(error?.code == .refused && error?.message == "the application is too old")
        }
    }

    @Test("B14 a journal of a later format is left as it is, and clients are told that the process is too old")
    func laterJournal() async throws {
        let fixture = try await ServiceFixture(directory: directory)
        let identifier = try await fixture.add(TransferRequest(download: "http://127.0.0.1:1/a"))
        try await fixture.service.pause([identifier])
        await fixture.close()
        let path = directory.path(of: "transfers/journal"), files = FileSystem()
        let journal = try files.contents(of: path), digit = Journal.magic.count - 2
        var later = journal
        later[digit] = UInt8(ascii: "2")
        try directory.write(later + Array("a record that only that version knows".utf8), to: "transfers/journal")
        chmod(path, 0o600)
        let before = (try files.contents(of: path), try files.entryNames(in: directory.path(of: "transfers")).sorted())
        let configuration = TransferEngineConfiguration(directory: directory.path(of: "transfers"))
        let error = await #expect(throws: EideticError.self) {
            _ = try await EngineService.open(configuration, application: "org.example.Test")
        }
        #expect(error?.code == .cacheUnavailable, "\(String(describing: error))")
        #expect(error?.message.contains("journal has version 2") == true, "\(String(describing: error))")
        let process = try startProcess(), client = try process.connect()
        let told = await #expect(throws: EideticError.self) { _ = try await client.transfers(in: nil) }
        process.kill()
        #expect(told?.code == .cacheUnavailable && told?.message.contains("too old") == true)
        #expect(try files.contents(of: path) == before.0)
        #expect(try files.entryNames(in: directory.path(of: "transfers")).sorted() == before.1)
        // The program that knows it goes on.
        try directory.write(journal, to: "transfers/journal")
        chmod(path, 0o600)
        let service = try await EngineService.open(configuration, application: "org.example.Test")
        #expect(try await service.transfers(in: nil).map(\.identifier) == [identifier])
        await service.close()
    }
}
