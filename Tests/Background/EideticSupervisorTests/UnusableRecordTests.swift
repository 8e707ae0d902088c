import EideticCore
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import Glibc
import EideticLifecycle
import Testing

@Suite("Processes and records that cannot be used", .serialized, .timeLimit(.minutes(2)))
struct UnusableRecordTests {
    @Test(
        "B05 a stopped application whose record cannot be used continues alone",
        arguments: ["damaged", "of another version", "too large", "missing"]
    )
    func continues(record: String) async throws {
        let daemon = try await Daemon(.signals, ["--limit", "idle=10"])
        for name in ["one", "other"] {
            try await daemon.launchInForeground(name)
            try await daemon.suspend(name)
        }
        let one = try #require(try daemon.status(of: "one")?.process)
        let other = try #require(try daemon.status(of: "other")?.process)
        await daemon.kill()
        let path = daemon.directory.path(of: "run/applications/one/record")
        switch record {
        case "damaged": truncate(path, 20)
        case "of another version":
            var bytes = try FileSystem().contents(of: path)
            bytes[0] = 2
            _ = try daemon.directory.write(bytes, to: "run/applications/one/record")
        case "too large": truncate(path, 1 << 30)
        default: unlink(path)
        }
        try await daemon.start()
        let isContinued = await daemon.waitForStatuses { _ in !"Tt".contains(ProcessStatus(of: one)?.state ?? "T") }
        #expect(isContinued)
        // One whose record is good stays suspended.
        #expect(ProcessStatus(of: other)?.state == "T")
        kill(one, SIGKILL)
        await daemon.finish()
    }

    @Test("B05 a record with as many URLs and wakes as may wait can be read")
    func largestRecord() throws {
        var record = ApplicationRecord()
        record.process = ApplicationRecord.ProcessRecord()
        let rules = LifecycleRules()
        let url = String(repeating: "u", count: SupervisionProtocol.urlLimit)
        record.process?.intention.urls = Array(
            repeating: .init(IncomingURL(url, id: 1, source: String(repeating: "s", count: 128))),
            count: rules.waitingURLLimit
        )
        let session = String(repeating: "s", count: SupervisionProtocol.identifierLimit)
        let wake = WakeReason(.session, id: 1, session: session)
        record.waitingWakes = (0..<rules.openWakeLimit).map { _ in .init(wake, allowance: .seconds(1)) }
        let text = String(repeating: "p", count: SupervisionProtocol.pathLimit)
        record.program = ProgramDescription(executable: text)
        let bytes = WireWriter.encode(record)
        #expect(bytes.count > 1 << 20 && bytes.count < RuntimeDirectory.recordLimit)
        #expect(try WireReader.decode(ApplicationRecord.self, from: bytes) == record)
    }

    @Test("B05 a record of a later version is read without the fields that this one does not know")
    func laterRecord() throws {
        var record = ApplicationRecord()
        (record.processNumber, record.process) = (7, ApplicationRecord.ProcessRecord())
        record.process?.identifier = 12
        var bytes = WireWriter.encode(record)
        bytes += [200, 3, 0, 0, 0, 1, 2, 3]
        #expect(try WireReader.decode(ApplicationRecord.self, from: bytes) == record)
        // Cut off within a field.
        bytes.removeLast()
        #expect(throws: WireError.self) { try WireReader.decode(ApplicationRecord.self, from: bytes) }
        // An earlier version had fewer.
        #expect(try WireReader.decode(ApplicationRecord.self, from: [5]) == ApplicationRecord())
        #expect(throws: WireError.self) { try WireReader.decode(ApplicationRecord.self, from: [4]) }
    }

    @Test("B05 a record of which a bit has changed is refused, or is a record that can be written and read")
    func damagedBits() throws {
        var record = ApplicationRecord()
        record.processNumber = 7
        record.program = ProgramDescription(executable: "/usr/bin/one")
        record.process = ApplicationRecord.ProcessRecord()
        record.process?.identifier = 12
        record.process?.intention.urls = [.init(IncomingURL("https://example.org/", id: 1, source: "org.example.Two"))]
        record.waitingWakes = [.init(WakeReason(.session, id: 1, session: "s"), allowance: .seconds(1))]
        let bytes = WireWriter.encode(record)
        try #require(WireReader.decode(ApplicationRecord.self, from: bytes) == record)
        var refusals = 0
        for index in bytes.indices {
            for bit in 0..<8 {
                var damaged = bytes
                damaged[index] ^= 1 << UInt8(bit)
                guard let read = try? WireReader.decode(ApplicationRecord.self, from: damaged) else {
                    refusals += 1
                    continue
                }
                let again = try WireReader.decode(ApplicationRecord.self, from: WireWriter.encode(read))
                #expect(again == read, "byte \(index), bit \(bit)")
            }
        }
        #expect(refusals > 0)
    }

    @Test("B05 a file of a supervisor is read up to its limit", arguments: [-1, 0, 1])
    func sizeLimit(difference: Int) throws {
        let place = try TemporaryDirectory(named: "limits")
        let directory = try RuntimeDirectory(path: place.path(of: "run"))
        let count = RuntimeDirectory.recordLimit + difference
        let path = try place.write([UInt8](repeating: 1, count: count), to: "run/record")
        #expect(directory.contents(of: path)?.count == (difference > 0 ? nil : count))
    }

    @Test("B02 the wakes that an application has not completed are limited, and a further one refused")
    func wakeLimit() {
        let rules = LifecycleRules()
        var lifecycle = Lifecycle(rules: rules)
        for number in 1...rules.openWakeLimit + 1 {
            let wake = WakeReason(.session, id: UInt64(number), session: "s")
            let effects = lifecycle.handle(.wake(wake, allowance: .seconds(1)), at: .zero)
            let isRefused = effects.contains { $0 == .refuse(.tooManyRequests) }
            #expect(isRefused == (number > rules.openWakeLimit))
        }
        #expect(lifecycle.acceptedWakes.count == rules.openWakeLimit)
    }

    @Test("B14 a transfer process on a file system that hangs stops no application")
    func hangingTransferProcess() async throws {
        let place = try TemporaryDirectory(named: "hanging")
        guard let hang = HangingFileSystem(at: place.path(of: "hang")) else { return }
        let daemon = try await Daemon(
            ControlGroups.kinds[0],
            [
                "--transfers", "\(hang.path)/transferd", "--transfer-socket", place.path(of: "socket"),
                "--transfer-directory", place.path(of: "transfers"),
            ]
        )
        try await daemon.launchInForeground("one")
        await daemon.finish()
    }
}
