import EideticCore
import EideticFetch
import EideticTestSupport
import EideticTransfer
import Glibc
import Testing

@testable import EideticTransferEngine

@Suite("the order of transfers")
struct QueueTests {
    @Test("B14 six transfers run to a host and sixteen in all")
    func connectionsAreLimited() {
        var queue = TransferQueue()
        for number in 0..<100 {
            queue.insert(
                UInt64(number),
                on: .init(application: 0, host: UInt32(number / 25)),
                priority: 0,
                remaining: nil
            )
        }
        var started: [TransferQueue.Connection] = []
        while let next = queue.popNext(isReady: { _ in true }) { started.append(next.connection) }
        #expect(queue.runningCount == 16 && [0, 1, 2].map { host in started.count { $0.host == host } } == [6, 6, 4])
        queue.release(started[0])
        #expect(queue.popNext { _ in true } != nil && queue.popNext { _ in true } == nil)
    }

    @Test("B14 applications take turns by bytes, however many transfers each has")
    func applicationsTakeTurns() {
        var queue = TransferQueue()
        let (large, small) = (4 << 20, 1 << 20)
        for number in 0..<1_000 {
            queue.insert(UInt64(number), on: .init(application: 0, host: 0), priority: 0, remaining: large)
        }
        for number in 1_000..<1_100 {
            queue.insert(UInt64(number), on: .init(application: 1, host: 1), priority: 0, remaining: small)
        }
        var bytes = [0, 0]
        while bytes[0] + bytes[1] < 100 << 20, let next = queue.popNext(isReady: { _ in true }) {
            bytes[next.number < 1_000 ? 0 : 1] += next.number < 1_000 ? large : small
            queue.release(next.connection)
        }
        #expect(abs(bytes[0] - bytes[1]) <= 2 * large, "\(bytes)")
    }

    @Test("B14 a higher priority starts first, then an earlier addition; transfers that no longer wait are left out")
    func prioritiesAreKept() {
        var queue = TransferQueue()
        for (number, priority) in [(1, 0), (2, 5), (3, 0), (4, 5), (5, -5)] as [(UInt64, Int8)] {
            queue.insert(number, on: .init(application: 0, host: 0), priority: priority, remaining: nil)
        }
        var order: [UInt64] = []
        while let next = queue.popNext(isReady: { $0 != 3 }) { order.append(next.number) }
        #expect(order == [2, 4, 1, 5])
    }

    @Test("B14 delays are random, and their bound doubles from a second to ten minutes")
    func delaysGrow() {
        var backoff = Backoff()
        backoff.random = { 1 }
        let bounds = [0, 1, 2, 3, 9, 10, 11, 255].map { backoff.delay(afterAttempts: $0) }
        #expect(bounds == [1, 1, 2, 4, 256, 512, 600, 600].map { .seconds($0) })
        backoff.random = { 0.5 }
        #expect(backoff.delay(afterAttempts: 3) == .seconds(2))
    }
}

@Suite("the journal", .timeLimit(.minutes(1)))
struct JournalTests {
    /// Returns a journal of four transfers, and of one whose records are erased.
    private func makeJournal(in directory: TemporaryDirectory) async throws -> [UInt8] {
        let fixture = try await ServiceFixture(directory: directory)
        let origin = try ScriptedOrigin { _ in [.response(body: [1, 2, 3])] }
        _ = try await fixture.add(TransferRequest(download: origin.url + "/erased"))
        try await fixture.service.acknowledge([await fixture.log.waitForEvents(1)[0].number])
        for number in 0..<4 {
            let identifier = try await fixture.add(TransferRequest(download: "http://127.0.0.1:1/\(number)"))
            try await fixture.service.pause([identifier])
        }
        await fixture.close()
        return try directory.contents(of: "transfers/journal")
    }

    @Test("B14 a journal that is cut off anywhere has the records before")
    func truncatedJournalsAreRead() async throws {
        let directory = try TemporaryDirectory()
        let journal = try await makeJournal(in: directory)
        var counts: [Int] = []
        for length in stride(from: 0, through: journal.count, by: Torture.isFull ? 1 : 11) + [journal.count] {
            try directory.write(Array(journal.prefix(length)), to: "cut/transfers/journal")
            chmod(directory.path(of: "cut/transfers/journal"), 0o600)
            let configuration = TransferEngineConfiguration(directory: directory.path(of: "cut/transfers"))
            let service = try await EngineService.open(configuration, application: "org.example.Test")
            counts.append(try await service.transfers(in: nil).count)
            await service.close()
        }
        #expect(counts == counts.sorted() && counts.first == 0 && counts.last == 4)
    }

    @Test("B14 a damaged byte of the journal costs one transfer at most, and what was damaged is set aside")
    func damagedJournalsAreRead() async throws {
        let directory = try TemporaryDirectory()
        let journal = try await makeJournal(in: directory)
        let path = directory.path(of: "damaged/transfers/journal"), files = FileSystem()
        for index in stride(from: 0, to: journal.count, by: Torture.isFull ? 1 : 7) {
            var damaged = journal
            damaged[index] ^= 0xff
            try directory.write(damaged, to: "damaged/transfers/journal")
            chmod(path, 0o600)
            try? files.unlink(path + ".damaged")
            // The second time nothing is damaged any more.
            for isFirst in [true, false] {
                let configuration = TransferEngineConfiguration(directory: directory.path(of: "damaged/transfers"))
                let service = try await EngineService.open(configuration, application: "org.example.Test")
                #expect(try await service.transfers(in: nil).count >= 3, "byte \(index)")
                await service.close()
                let aside = try? files.status(of: path + ".damaged")
                if isFirst { #expect(aside == nil || aside?.permissions == 0o600) }
                try? files.unlink(path + ".damaged")
                if !isFirst { #expect(aside == nil, "byte \(index)") }
            }
        }
    }

    @Test("B14 no bit that changes in a journal costs more than its record, and none is lost without a trace")
    func damagedBits() throws {
        let directory = try TemporaryDirectory(), files = FileSystem()
        let names = ["one", "two", "three", "four"]
        let journal = Journal.magic + names.flatMap { Journal.encode(.boot($0), secret: Array($0.utf8)) }
        let path = directory.path(of: "journal"), last = Journal.encode(.boot("four"), secret: Array("four".utf8)).count
        for index in journal.indices {
            for bit in 0..<8 {
                var damaged = journal
                damaged[index] ^= 1 << UInt8(bit)
                try directory.write(damaged, to: "journal")
                try? files.unlink(path + ".damaged")
                var found: [String] = []
                _ = try Journal(path: path, fileSystem: files) { record, _ in
                    if case .boot(let name) = record { found.append(name) }
                }
                #expect(found.count >= 3 && found == names.filter(found.contains), "byte \(index), bit \(bit)")
                // The end, which a loss of power may cut off, and the mark of an erased record are no damage.
                let isEnd = index >= journal.count - last, isErasure = found.count == 3 && bit == 7
                let isAside = (try? files.status(of: path + ".damaged")) != nil
                #expect(found.count == 4 || isAside || isEnd || isErasure, "byte \(index), bit \(bit)")
            }
        }
    }

    @Test("B14 a damaged record at the end of the journal is removed, and the file ends with the record before")
    func damagedEnd() throws {
        let directory = try TemporaryDirectory(), files = FileSystem()
        let records = ["a", "b"].map { Journal.encode(.boot($0), secret: [1, 2]) }
        let whole = Journal.magic + records[0]
        var damaged = records[1]
        damaged[Journal.headSize] ^= 0xff
        try directory.write(whole + damaged, to: "journal")
        let path = directory.path(of: "journal")
        _ = try Journal(path: path, fileSystem: files) { _, _ in }
        #expect(try directory.contents(of: "journal") == whole)
        #expect((try? files.status(of: path + ".damaged")) == nil)
    }

    @Test("B14 a second process on the same directory is refused")
    func directoriesHaveOneProcess() async throws {
        let fixture = try await ServiceFixture()
        await #expect(throws: EideticError.self) { _ = try await ServiceFixture(directory: fixture.directory) }
    }

    @Test("B14 the journal is rewritten, and keeps the records of events that are not acknowledged")
    func journalsAreCompacted() async throws {
        let body = Body.bytes(60_000)
        let origin = try ScriptedOrigin { _ in [.response(body: body)] }
        let directory = try TemporaryDirectory()
        let fixture = try await ServiceFixture(directory: directory)
        var last: UInt64 = 0
        for round in 1...5 {
            _ = try await fixture.service.add(
                (0..<20).map { TransferRequest(download: "\(origin.url)/\($0)") },
                to: "s"
            )
            let events = await fixture.log.waitForEvents(20 * round)
            last = events.last?.number ?? 0
            try await fixture.service.acknowledge(events.map(\.number).filter { $0 != last })
        }
        let size = try FileSystem().status(of: directory.path(of: "transfers/journal")).size
        #expect(size < 3 << 20, "\(size) bytes for one event of 60 kB")
        await fixture.close()
        let second = try await ServiceFixture(directory: directory)
        #expect(await second.log.waitForEvents(1).map(\.number).contains(last))
    }
}

extension StrideThrough<Int> {
    static func + (left: Self, right: [Int]) -> [Int] { Array(left) + right }
}
