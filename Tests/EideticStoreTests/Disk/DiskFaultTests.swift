import EideticCore
import EideticStore
import EideticTestSupport
import Glibc
import Testing

@Suite("Disk cache: faults")
struct DiskFaultTests {
    static let numbers = [ENOSPC, EIO, EACCES, EMFILE, EINTR]
    static let calls: [SystemCall] = [
        .open, .write, .read, .pread, .pwrite, .fstat, .stat, .lstat, .rename, .unlink, .mkdir, .readdir, .flock,
        .lseek, .fallocate, .ftruncate, .statvfs, .access, .fdatasync,
    ]

    @Test("C18 the file layer makes no call that the proof by failing calls leaves out")
    func allCalls() throws {
        let fixture = try DiskFixture()
        try FaultScenario(fixture).run(failing: .close, number: ENOSPC, at: 1, count: 1)
        _ = try fixture.secondCache(observer: fixture.plan)
        #expect(Set(fixture.plan.calls.map(\.call)).subtracting(Self.calls).isEmpty)
    }

    @Test("C18 whichever call fails, once or always, answers are right or typed errors", arguments: calls, numbers)
    func everyCall(_ call: SystemCall, number: Int32) throws {
        for position in Torture.isFull ? [1, 2, 3, 4, 5, 6] : [1, 3] {
            let run = try FaultScenario(isDurable: position > 2)
            try run.run(failing: call, number: number, at: position, count: number == EINTR ? 3 : 1)
        }
        guard number != EINTR else { return }
        for isDurable in Torture.isFull ? [false, true] : [false] {
            try FaultScenario(isDurable: isDurable).run(failing: call, number: number, at: 1, count: .max)
        }
    }

    @Test("C18 a device that fails stops writing for a minute, and reading goes on")
    func failingDevice() throws {
        let fixture = try DiskFixture()
        try fixture.cache.write([1], for: "a")
        fixture.plan.fail(.write, with: EIO)
        #expect(errorCode { try fixture.cache.write([2], for: "b") } == .fileFailure)
        fixture.plan.resetCalls()
        #expect(errorCode { try fixture.cache.write([2], for: "b") } == .fileFailure)
        #expect(fixture.plan.calls.isEmpty)
        #expect(try fixture.cache.read("a")?.bytes == [1])
        fixture.time.advance(by: .seconds(61))
        try fixture.cache.write([2], for: "b")
    }

    @Test("C10 a full file system makes the cache evict once and try again")
    func fullOnce() throws {
        let fixture = try DiskFixture()
        for index in 0..<40 { try fixture.cache.write(pattern(5_000), for: "\(index)") }
        fixture.plan.fail(.write, with: ENOSPC)
        try fixture.cache.write([1], for: "new")
        #expect(try fixture.cache.read("new")?.bytes == [1])
        #expect(fixture.cache.usage.entryCount < 40)
        fixture.plan.fail(.write, with: ENOSPC, count: 2)
        #expect(errorCode { try fixture.cache.write([2], for: "newer") } == .diskFull)
        #expect(fixture.cache.usage == (try fixture.measuredUsage()))
    }

    @Test("C10 free space and inodes of the file system are guarded")
    func guards() throws {
        let fixture = try DiskFixture { $0.minimumFreeSpace = ByteCount(1 << 60) }
        #expect(errorCode { try fixture.cache.write([1], for: "a") } == .diskFull)
        #expect(fixture.cache.usage == (try fixture.measuredUsage()))
    }

    @Test("C18 of thousands of randomly damaged entries none is served, and verify names each")
    func damage() throws {
        let fixture = try DiskFixture(), count = Torture.repetitions(600, full: 10_000)
        var generator = SystemRandomNumberGenerator()
        let sizes = (0..<count).map { _ in Int.random(in: 0..<3_000, using: &generator) }
        for index in 0..<count { try fixture.cache.write(pattern(sizes[index], seed: index), for: "\(index)") }
        for index in 0..<count {
            let other = fixture.cache.path(for: "\((index + 1) % count)")
            try damage(fixture.cache.path(for: "\(index)"), other: other, kind: index % 6, generator: &generator)
        }
        let verified = try fixture.cache.verify()
        #expect(verified.checked == count)
        #expect(Set(verified.damaged.map(\.path)).count == count)
        #expect(verified.damaged.allSatisfy { !$0.reason.isEmpty })
        for index in 0..<count {
            let bytes = try fixture.cache.read("\(index)")?.bytes
            // What only has something behind its end is whole: it is cut off there.
            let isRight = index % 6 == 4 ? bytes == pattern(sizes[index], seed: index) : bytes == nil
            #expect(isRight, "entry \(index)")
        }
        let after = try fixture.cache.verify()
        #expect(after.checked == count / 6)
        #expect(after.damaged.isEmpty)
        #expect(fixture.cache.usage == (try fixture.measuredUsage()))
        #expect(fixture.cache.usage.entryCount == count / 6)
    }

    private func damage(
        _ path: String,
        other: String,
        kind: Int,
        generator: inout some RandomNumberGenerator
    ) throws {
        var bytes = try FileSystem().contents(of: path)
        switch kind {
        case 0:
            bytes[Int.random(in: 0..<bytes.count, using: &generator)] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 1: bytes.removeLast(Int.random(in: 1...bytes.count, using: &generator))
        case 2: bytes = try FileSystem().contents(of: other)
        case 3: bytes = []
        case 4: bytes.append(contentsOf: [UInt8](repeating: 0, count: Int.random(in: 1..<5_000, using: &generator)))
        default:
            let start = Int.random(in: 0..<bytes.count, using: &generator)
            for index in start..<min(bytes.count, start + 512) { bytes[index] = ~bytes[index] }
        }
        let file = try FileSystem().open(path, flags: O_WRONLY | O_TRUNC)
        let number = file.rawValue
        #expect(bytes.withUnsafeBytes { Glibc.write(number, $0.baseAddress, $0.count) } == bytes.count)
    }

    @Test("C18 a file that claims to be enormous, or is a pipe, costs neither memory nor time")
    func enormous() throws {
        let fixture = try DiskFixture()
        for key in ["a", "b"] { try fixture.cache.write([1], for: key) }
        let file = try FileSystem().open(fixture.cache.path(for: "a"), flags: O_WRONLY)
        try FileSystem().truncate(file, to: 3 << 30)
        try FileSystem().unlink(fixture.cache.path(for: "b"))
        mkfifo(fixture.cache.path(for: "b"), 0o600)
        let damaged = try fixture.cache.verify().damaged
        #expect(damaged.map(\.reason).contains("it is not a regular file"))
        #expect(damaged.count == 2)
        fixture.plan.resetCalls()
        for key in ["a", "b"] { #expect(try fixture.cache.read(key) == nil) }
        #expect(try fixture.measuredUsage() == DiskCache.Usage())
    }

    @Test("C10 limits as large as numbers can be are no limits, and overflow nowhere")
    func largestLimits() throws {
        let fixture = try DiskFixture {
            $0.sizeLimit = ByteCount(.max)
            $0.derivedShare = 1
            $0.minimumFreeSpace = .zero
            $0.maximumAge = .seconds(Int64.max)
        }
        try fixture.cache.write([1], for: "a")
        #expect(try fixture.cache.read("a")?.bytes == [1])
        let full = try DiskFixture { $0.minimumFreeSpace = ByteCount(.max) }
        #expect(errorCode { try full.cache.write([1], for: "a") } == .diskFull)
    }
}

/// A fixed run of operations with a model of what may be answered.
private struct FaultScenario {
    /// For each key the bytes that a read may give; `nil` stands for a miss.
    private final class Model {
        var allowed: [String: Set<[UInt8]?>] = [:]
    }

    private let fixture: DiskFixture
    private let model = Model()

    /// What is durable is written in two turns at the directory, all else in one.
    init(isDurable: Bool) throws {
        try self.init(
            DiskFixture {
                $0.sizeLimit = ByteCount(64 * 4_096)
                $0.isDurable = isDurable
            }
        )
    }

    init(_ fixture: DiskFixture) throws { self.fixture = fixture }

    func run(failing call: SystemCall, number: Int32, at position: Int, count: Int) throws {
        let before = Set("abcdefgh".map(String.init))
        for key in before { try write(pattern(2_000, seed: 1), for: key, number: number) }
        fixture.plan.fail(call, with: number, at: position, count: count)
        for round in 2..<4 {
            for key in before { try? write(pattern(3_000, seed: round), for: key, number: number) }
            for key in before { try? check(key) }
            try? remove("a")
            _ = try? fixture.cache.removeExpired()
            _ = fixture.cache.usage
            _ = try? fixture.cache.entries()
            readEverything(round: round)
        }
        fixture.plan.removeAllRules()
        fixture.time.advance(by: .seconds(61))
        for key in before { try check(key) }
        #expect(fixture.cache.usage == (try fixture.measuredUsage()))
        #expect(try fixture.secondCache().usage == (try fixture.measuredUsage()))
        try fixture.cache.removeAll()
        #expect(try fixture.measuredUsage() == DiskCache.Usage())
    }

    /// Operations that find nothing to remove, and one that opens the directory.
    private func readEverything(round: Int) {
        _ = try? fixture.cache.verify()
        _ = try? fixture.cache.info(for: "b")
        _ = try? fixture.cache.trim(toSize: ByteCount(64 * 4_096))
        _ = try? fixture.cache.removeEntries(storedBefore: Timestamp(nanoseconds: 0))
        _ = try? fixture.cache.sweep(olderThan: .seconds(1 << 32), downTo: ByteCount(64 * 4_096))
        if let other = try? fixture.secondCache(observer: fixture.plan) { try? check("c", in: other) }
    }

    private func write(_ bytes: [UInt8], for key: String, number: Int32) throws {
        do {
            try fixture.cache.write(bytes, for: key)
            model.allowed[key] = [bytes]
        } catch {
            // What was there before is still there; a full disk may have cost any entry.
            if number == ENOSPC { for key in model.allowed.keys { model.allowed[key]?.insert(nil) } }
            throw error
        }
        if number == ENOSPC { for key in model.allowed.keys { model.allowed[key]?.insert(nil) } }
    }

    private func remove(_ key: String) throws {
        model.allowed[key]?.insert(nil)
        try fixture.cache.remove(key)
        model.allowed[key] = [nil]
    }

    private func check(_ key: String, in cache: DiskCache? = nil) throws {
        let bytes = try (cache ?? fixture.cache).read(key)?.bytes
        let isAllowed = model.allowed[key]?.contains(bytes) == true
        #expect(isAllowed, "key \(key) gave \(bytes?.count ?? -1) bytes")
    }
}
