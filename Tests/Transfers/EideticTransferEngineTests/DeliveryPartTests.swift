import EideticCore
import EideticTestSupport
import EideticTransfer
import Testing

@testable import EideticTransferEngine

@Suite("delivery, ends and pace, without an engine")
struct DeliveryPartTests {
    private let directory: TemporaryDirectory
    private let time = ManualTime()
    private let store: TransferStore
    private let session: TransferSession

    init() throws {
        directory = try TemporaryDirectory()
        store = try TransferStore(directory: directory.path, fileSystem: FileSystem(), time: time)
        let application = store.application(named: "a")
        try store.openSession(TransferSessionConfiguration(identifier: "s"), of: application)
        session = try store.session("s", of: application)
    }

    /// Adds a transfer that has ended at once.
    private func end() throws {
        for number in try store.add([(TransferRequest(download: "https://example.org/"), nil)], to: session) {
            try store.end(number, with: .failed(code: "timedOut", message: ""))
        }
    }

    /// The names of the notifications that an observer gets.
    private final class Log {
        var names: [String] = []

        var observer: EventDelivery.Observer {
            EventDelivery.Observer {
                self.names.append("\("\($0)".prefix { $0 != "(" })")
            } canReceive: {
                true
            }
        }
    }

    @Test("B14 an event is delivered when it is safe, then that its session has finished, and to each observer once")
    func delivery() throws {
        let (delivery, log) = (EventDelivery(store, time: time), Log())
        let observer = log.observer
        delivery.add(observer, to: session)
        try end()
        delivery.sessionChanged(session)
        delivery.deliver()
        #expect(log.names.isEmpty && delivery.hasUnsafeEvents)
        delivery.safeEvent = store.nextEvent - 1
        delivery.deliver()
        #expect(log.names == ["event", "sessionFinished"] && !delivery.hasUnsafeEvents)
        delivery.deliver(to: observer, of: session)
        #expect(log.names.count == 2)
        let second = Log()
        delivery.add(second.observer, to: session)
        #expect(second.names == ["event", "sessionFinished"] && log.names.count == 2)
    }

    @Test("B14 an outcome is in memory until its event could be delivered, then in the journal alone")
    func outcomes() throws {
        try end()
        let row = try #require(store.rows.values.first)
        let early = store.event(of: row)
        #expect(store.lastOutcomes == [row.event: .failed(code: "timedOut", message: "")])
        store.forgetOutcomes(upTo: row.event - 1)
        #expect(!store.lastOutcomes.isEmpty)
        store.forgetOutcomes(upTo: row.event)
        let late = store.event(of: row)
        #expect(store.lastOutcomes.isEmpty && late == early)
    }

    @Test("B14 an application that is held is woken for its events, and gets them when it is released")
    func held() throws {
        let (delivery, log) = (EventDelivery(store, time: time), Log())
        var wakes = 0
        delivery.onWake = { _, _ in wakes += 1 }
        delivery.add(log.observer, to: session)
        delivery.setHeld(true, application: "a")
        try end()
        delivery.sessionChanged(session)
        delivery.safeEvent = store.nextEvent - 1
        delivery.deliver()
        #expect(log.names.isEmpty && wakes == 1)
        delivery.releaseAll()
        #expect(log.names == ["event", "sessionFinished"] && wakes == 1)
    }

    @Test("B14 a wake that failed comes again after a second, then after two, until the application handles events")
    func failedWakes() throws {
        let delivery = EventDelivery(store, time: time)
        var wakes = 0
        delivery.onWake = { _, _ in wakes += 1 }
        try end()
        delivery.sessionChanged(session)
        delivery.safeEvent = store.nextEvent - 1
        delivery.deliver()
        #expect(wakes == 1 && delivery.deadline == nil)
        for (seconds, count) in [(1, 2), (2, 3)] {
            delivery.wakeFailed("s", of: "a")
            #expect(delivery.deadline == time.uptime + .seconds(seconds))
            time.advance(by: .seconds(seconds) - .milliseconds(1))
            delivery.retryWakes()
            #expect(wakes == count - 1)
            time.advance(by: .milliseconds(1))
            delivery.retryWakes()
            #expect(wakes == count && delivery.deadline == nil)
        }
        delivery.resetWakePauses(of: session.application)
        delivery.wakeFailed("s", of: "a")
        #expect(delivery.deadline == time.uptime + .seconds(1))
    }

    @Test("B14 an end that could not be recorded is kept for a second, and counts as one that is being made safe")
    func ends() {
        let files = FileSystem()
        let worker = SyncWorker(name: "test", fileSystem: files)
        let finishing = FinishingTransfers(files: files, inbox: TransferInbox(), syncWorker: worker)
        let outcome = TransferEvent.Outcome.failed(code: "timedOut", message: "")
        finishing.keep(FinishingTransfers.End(number: 7, outcome: outcome), at: .seconds(5))
        #expect(finishing.contains(7) && finishing.hasUnrecordedEnds)
        let early = finishing.takeUnrecorded(at: .milliseconds(5_999))
        #expect(early.isEmpty && finishing.contains(7))
        let late = finishing.takeUnrecorded(at: .seconds(6))
        #expect(late.map(\.number) == [7] && finishing.isEmpty && !finishing.hasUnrecordedEnds)
        finishing.stop()
    }

    @Test("B14 progress is reported four times a second at most, and if it has changed")
    func progress() {
        var pace = TransferPace()
        let reports = [(0, 1_000), (5, 1_100), (5, 1_250), (5, 1_500), (6, 1_500)].map { count, time in
            pace.report(count, at: .milliseconds(time))
        }
        #expect(reports == [true, false, true, false, true])
    }

    @Test("B14 a transfer below 16 KiB a second for ten seconds is slow, until it is faster again")
    func slowness() {
        var (pace, count) = (TransferPace(), 0)
        func isSlow(after seconds: ClosedRange<Int>, at rate: Int) -> Bool {
            for second in seconds {
                count += rate
                pace.measure(count, at: .seconds(second))
            }
            return pace.isSlow
        }
        let states = [
            isSlow(after: 0...9, at: 1 << 10), isSlow(after: 10...21, at: 1 << 10), isSlow(after: 22...45, at: 1 << 20),
        ]
        #expect(states == [false, true, false])
    }
}
