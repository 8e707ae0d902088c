import EideticCore
import EideticTransfer
import Testing

@testable import EideticTransferEngine

@Suite("commits, space, conditions and shares, without an engine")
struct EnginePartTests {
    /// The names of functions in the order of their calls.
    private final class Calls {
        var names: [String] = []

        func commit(_ name: String) -> CommitQueue.Handler {
            { error in self.names.append(error == nil ? name : "\(name) failed") }
        }

        func attempt(_ name: String) -> () -> Void { { self.names.append(name) } }

        func take(_ bodies: [() -> Void]) -> [String] {
            for body in bodies { body() }
            defer { names = [] }
            return names
        }
    }

    @Test("B14 changes that come while the journal is synchronised wait for the next attempt")
    func commits() {
        let calls = Calls()
        var queue = CommitQueue()
        var isBegun = queue.begin(hasEvents: false, at: .zero)
        #expect(!isBegun && !queue.hasUnsafeChanges(at: .zero))
        queue.afterCommit(calls.commit("first"))
        queue.afterAttempt(calls.attempt("look"))
        #expect(queue.hasUnsafeChanges(at: .zero))
        isBegun = queue.begin(hasEvents: false, at: .zero)
        #expect(isBegun && queue.isUnderWay)
        queue.afterCommit(calls.commit("second"))
        isBegun = queue.begin(hasEvents: true, at: .zero)
        #expect(!isBegun)
        #expect(calls.take(queue.complete()) == ["first", "look"])
        isBegun = queue.begin(hasEvents: false, at: .zero)
        #expect(isBegun && calls.take(queue.complete()) == ["second"])
    }

    @Test("B14 a journal that cannot be written is attempted again after a second, in the order of the changes")
    func failedCommits() {
        let calls = Calls()
        var queue = CommitQueue()
        queue.afterCommit(calls.commit("first"))
        queue.afterAttempt(calls.attempt("look"))
        _ = queue.begin(hasEvents: false, at: .zero)
        queue.afterCommit(calls.commit("second"))
        // Who only looks does not wait for a journal that cannot be written.
        #expect(calls.take(queue.fail(at: .zero)) == ["look"])
        #expect(queue.deadline == .seconds(1) && !queue.hasUnsafeChanges(at: .zero) && queue.isAwaited)
        let isBegun = [Duration.milliseconds(999), .seconds(1)].map { queue.begin(hasEvents: true, at: $0) }
        #expect(isBegun == [false, true] && queue.deadline == nil)
        #expect(calls.take(queue.complete()) == ["first", "second"])
        queue.afterCommit(calls.commit("third"))
        queue.afterAttempt(calls.attempt("look"))
        #expect(calls.take(queue.end(with: TransferEngine.stopping)) == ["third failed", "look"] && !queue.isAwaited)
        // A deadline without anything that waits passes, too.
        _ = queue.fail(at: .seconds(5))
        let isIdle = !queue.begin(hasEvents: false, at: .seconds(6))
        #expect(isIdle && queue.deadline == nil)
    }

    @Test("B14 an application's files are limited, and a part of the file system stays free")
    func space() throws {
        var space = DiskSpace(of: "/tmp", limit: 100, reservedBytes: 0, files: FileSystem())
        try space.check(for: 60, of: "a", using: 40, at: .zero)
        let excess = try #require(throws: EideticError.self) { try space.check(for: 61, of: "a", using: 40, at: .zero) }
        #expect(excess.code == .limitExceeded && excess.message.contains("the files of a would exceed 100 bytes"))
        #expect(space.room(besides: 40) == 60)
        var reserved = DiskSpace(of: "/tmp", limit: 100, reservedBytes: .max / 2, files: FileSystem())
        let full = try #require(throws: EideticError.self) { try reserved.check(for: 1, of: "a", using: 0, at: .zero) }
        #expect(full.code == .diskFull)
        var quarter = DiskSpace(of: "/tmp", limit: nil, reservedBytes: 0, files: FileSystem())
        #expect(try quarter.limit() == FileSystem().freeSpace(at: "/tmp").totalBytes / 4)
    }

    private final class Machine: TransferConditions {
        let reasons: [WaitReason]
        let looks = Guarded(0)

        init(_ reasons: [WaitReason]) { self.reasons = reasons }

        func unmetConditions() -> [WaitReason] {
            looks.withLock { $0 += 1 }
            return reasons
        }
    }

    @Test("B14 a discretionary transfer waits for conditions, which are looked at in intervals, for a day at most")
    func conditions() {
        let machine = Machine([WaitReason(.power, text: "waits for power")])
        var watch = ConditionWatch(machine, interval: .seconds(60))
        #expect(watch.deadline == nil)
        var admissions = (0..<2).map { _ in watch.admit(7, addedAt: .seconds(10), at: .seconds(20)) }
        #expect(admissions == [.waits(until: .seconds(86_410)), .waits(until: nil)])
        #expect(watch.isHeld(7) && watch.deadline == .seconds(80) && machine.looks.withLock { $0 } == 1)
        let ready = [Duration.seconds(79), .seconds(80)].map { watch.check(at: $0) }
        #expect(ready == [[], []] && machine.looks.withLock { $0 } == 2 && watch.deadline == .seconds(140))
        admissions = [watch.admit(7, addedAt: .seconds(10), at: .seconds(86_410))]
        #expect(admissions == [.isOverdue] && !watch.isHeld(7))
    }

    @Test("B14 a metered network holds discretionary transfers as the other conditions do")
    func metered() {
        var watch = ConditionWatch(Machine([]), interval: .seconds(60))
        let free = watch.admit(7, addedAt: .zero, at: .zero)
        watch.isMetered = true
        let held = watch.admit(7, addedAt: .zero, at: .zero)
        #expect(free == .runs && held == .waits(until: ConditionWatch.limit))
        #expect(watch.reasons.map(\.code) == [.meteredNetwork] && watch.transfers == [7])
        watch.isMetered = false
        let ready = watch.check(at: .seconds(60))
        #expect(ready == [7])
        watch.release(7)
        #expect(watch.transfers.isEmpty)
    }

    @Test("B14 the oldest transfer that can be continued gives way after a minute, and a slow one at once")
    func shares() {
        func candidate(_ number: UInt64, since start: Int, continues: Bool = true) -> ConnectionShares.Candidate {
            let connection = TransferQueue.Connection(application: 0, host: 0)
            var candidate = ConnectionShares.Candidate(
                number: number,
                connection: connection,
                startTime: .seconds(start)
            )
            candidate.canContinue = continues
            return candidate
        }
        let shortage = TransferQueue.Shortage(application: 1, host: nil)
        func yielding(_ running: [ConnectionShares.Candidate], lead: Int, at now: Int = 70) -> UInt64? {
            ConnectionShares.transferToYield(for: shortage, of: running, at: .seconds(now)) { _ in lead }
        }
        let running = [candidate(1, since: 5), candidate(2, since: 1), candidate(3, since: 0, continues: false)]
        #expect(yielding(running, lead: 2) == 2 && yielding(running, lead: 1) == 2)
        #expect(yielding(running, lead: 2, at: 59) == nil)
        // The youngest loses least.
        let whole = [candidate(3, since: 0, continues: false), candidate(4, since: 1, continues: false)]
        #expect(yielding(whole, lead: 2) == 4 && yielding(whole, lead: 1) == nil)
        var slow = candidate(5, since: 9)
        slow.isSlow = true
        #expect(yielding([slow], lead: 2, at: 10) == 5)
        let blockage = TransferQueue.Blockage(application: 0, host: nil, priority: 0)
        let fast = candidate(6, since: 0)
        #expect(ConnectionShares.slowTransfer(before: blockage, of: [fast, slow], at: .seconds(10)) == 5)
        slow.turns = 1
        let second = [10, 69].map { ConnectionShares.slowTransfer(before: blockage, of: [slow], at: .seconds($0)) }
        #expect(second == [nil, 5])
        slow.priority = 1
        #expect(ConnectionShares.slowTransfer(before: blockage, of: [slow], at: .seconds(99)) == nil)
    }

    @Test("B14 the part of shares is looked at once a second")
    func interval() {
        var shares = ConnectionShares()
        let due = [0, 500, 1_000].map { shares.isDue(at: .milliseconds($0)) }
        #expect(due == [true, false, true])
    }
}
