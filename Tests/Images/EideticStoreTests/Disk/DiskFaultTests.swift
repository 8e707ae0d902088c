import EideticCore
import EideticStore
import EideticTestSupport
import Glibc
import Testing

@Suite("Disk cache: faults")
struct DiskFaultTests {
    static let numbers = Torture.isFull ? [ENOSPC, EIO, EACCES, EMFILE, EINTR] : [ENOSPC, EIO, EINTR]
    static let calls: [SystemCall] = [
        .open, .write, .read, .pread, .pwrite, .fstat, .stat, .lstat, .rename, .unlink, .mkdir, .readdir, .flock,
        .lseek, .fallocate, .ftruncate, .statvfs, .access, .fdatasync, .linkat,
    ]

    @Test("C18 the fault tests cover every system call of the file layer")
    func allCalls() throws {
        let fixture = try DiskFixture()
        try FaultScenario(fixture).run(failing: .close, number: ENOSPC, at: 1, count: 1)
        _ = try fixture.secondCache(observer: fixture.plan)
        #expect(Set(fixture.plan.calls.map(\.call)).subtracting(Self.calls).isEmpty)
    }

    @Test(
        "C18 whichever system call fails, once or always, results are right or errors are typed",
        arguments: calls,
        numbers
    )
    func everyCall(_ call: SystemCall, number: Int32) throws {
        for position in Torture.isFull ? [1, 2, 3, 4, 5, 6] : [1] {
            let run = try FaultScenario(isDurable: position > 2)
            try run.run(failing: call, number: number, at: position, count: number == EINTR ? 3 : 1)
        }
        guard number == ENOSPC || Torture.isFull && number != EINTR else { return }
        for isDurable in Torture.isFull ? [false, true] : [false] {
            try FaultScenario(isDurable: isDurable).run(failing: call, number: number, at: 1, count: .max)
        }
    }

    @Test("C18 a failure of the device stops writes for a minute, but not reads")
    func failingDevice() throws {
        let fixture = try DiskFixture()
        try fixture.cache.blocking.insert([1], for: "a")
        fixture.plan.fail(.write, with: EIO)
        #expect(errorCode { try fixture.cache.blocking.insert([2], for: "b") } == .fileFailure)
        fixture.plan.resetCalls()
        #expect(errorCode { try fixture.cache.blocking.insert([2], for: "b") } == .fileFailure)
        #expect(fixture.plan.calls.isEmpty)
        #expect(try fixture.cache.blocking.read("a")?.bytes == [1])
        fixture.time.advance(by: .seconds(61))
        try fixture.cache.blocking.insert([2], for: "b")
    }

    @Test("C10 on a full file system the cache evicts and tries once more")
    func fullOnce() throws {
        let fixture = try DiskFixture()
        for index in 0..<40 { try fixture.cache.blocking.insert(pattern(5_000), for: "\(index)") }
        fixture.plan.fail(.write, with: ENOSPC)
        try fixture.cache.blocking.insert([1], for: "new")
        #expect(try fixture.cache.blocking.read("new")?.bytes == [1])
        #expect(fixture.cache.blocking.usage.entryCount < 40)
        fixture.plan.fail(.write, with: ENOSPC, count: 2)
        #expect(errorCode { try fixture.cache.blocking.insert([2], for: "newer") } == .diskFull)
        #expect(fixture.cache.blocking.usage == (try fixture.measuredUsage()))
    }

    @Test("C10 the file system's minimum of free space is kept")
    func guards() throws {
        let fixture = try DiskFixture { $0.minimumFreeSpace = ByteCount(1 << 60) }
        #expect(errorCode { try fixture.cache.blocking.insert([1], for: "a") } == .diskFull)
        #expect(fixture.cache.blocking.usage == (try fixture.measuredUsage()))
    }

    @Test("C18 of many randomly damaged entries none is served, and verify reports each")
    func damage() throws {
        let fixture = try DiskFixture(), count = Torture.repetitions(120, full: 10_000)
        var generator = SystemRandomNumberGenerator()
        let sizes = (0..<count).map { _ in Int.random(in: 0..<3_000, using: &generator) }
        for index in 0..<count {
            try fixture.cache.blocking.insert(pattern(sizes[index], seed: index), for: "\(index)")
        }
        for index in 0..<count {
            let other = fixture.cache.path(for: "\((index + 1) % count)")
            try damage(fixture.cache.path(for: "\(index)"), other: other, kind: index % 6, generator: &generator)
        }
        let verified = try fixture.cache.scan.verify()
        #expect(verified.checked == count)
        #expect(Set(verified.damaged.map(\.path)).count == count)
        #expect(verified.damaged.allSatisfy { !$0.reason.isEmpty })
        for index in 0..<count {
            let bytes = try fixture.cache.blocking.read("\(index)")?.bytes
            // A file with bytes after a complete footer is truncated there, and valid.
            let isRight = index % 6 == 4 ? bytes == pattern(sizes[index], seed: index) : bytes == nil
            #expect(isRight, "entry \(index)")
        }
        let after = try fixture.cache.scan.verify()
        #expect(after.checked == count / 6)
        #expect(after.damaged.isEmpty)
        #expect(fixture.cache.blocking.usage == (try fixture.measuredUsage()))
        #expect(fixture.cache.blocking.usage.entryCount == count / 6)
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

    @Test("C18 an enormous sparse file and a named pipe cost neither memory nor time")
    func enormous() throws {
        let fixture = try DiskFixture()
        for key in ["a", "b"] { try fixture.cache.blocking.insert([1], for: key) }
        let file = try FileSystem().open(fixture.cache.path(for: "a"), flags: O_WRONLY)
        try FileSystem().truncate(file, to: 3 << 30)
        try FileSystem().unlink(fixture.cache.path(for: "b"))
        mkfifo(fixture.cache.path(for: "b"), 0o600)
        let damaged = try fixture.cache.scan.verify().damaged
        #expect(damaged.map(\.reason).contains("not a regular file"))
        #expect(damaged.count == 2)
        fixture.plan.resetCalls()
        for key in ["a", "b"] { #expect(try fixture.cache.blocking.read(key) == nil) }
        #expect(try fixture.measuredUsage() == DiskCache.Usage())
    }

    @Test("C10 the largest possible limits do not overflow")
    func largestLimits() throws {
        let fixture = try DiskFixture {
            $0.sizeLimit = ByteCount(.max)
            $0.derivedShare = 1
            $0.minimumFreeSpace = .zero
            $0.maximumAge = .seconds(Int64.max)
        }
        try fixture.cache.blocking.insert([1], for: "a")
        #expect(try fixture.cache.blocking.read("a")?.bytes == [1])
        let full = try DiskFixture { $0.minimumFreeSpace = ByteCount(.max) }
        #expect(errorCode { try full.cache.blocking.insert([1], for: "a") } == .diskFull)
    }
}

/// A fixed sequence of operations with a model of their permitted results.
private struct FaultScenario {
    /// The permitted results of a read for each key; `nil` stands for a miss.
    private final class Model {
        var allowed: [String: Set<[UInt8]?>] = [:]
    }

    private let fixture: DiskFixture
    private let model = Model()

    /// Creates a scenario whose writes take two transactions if they are durable, and otherwise one.
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
            _ = try? fixture.cache.blocking.removeExpired()
            _ = fixture.cache.blocking.usage
            _ = try? fixture.cache.blocking.entries()
            readEverything(round: round)
        }
        fixture.plan.removeAllRules()
        fixture.time.advance(by: .seconds(61))
        for key in before { try check(key) }
        #expect(fixture.cache.blocking.usage == (try fixture.measuredUsage()))
        #expect(try fixture.secondCache().blocking.usage == (try fixture.measuredUsage()))
        try fixture.cache.blocking.removeAll()
        #expect(try fixture.measuredUsage() == DiskCache.Usage())
    }

    /// Performs operations that remove nothing, and opens the directory again.
    private func readEverything(round: Int) {
        _ = try? fixture.cache.scan.verify()
        _ = try? fixture.cache.lookup.info(for: "b")
        _ = try? fixture.cache.blocking.trim(toSize: ByteCount(64 * 4_096))
        _ = try? fixture.cache.blocking.removeEntries(storedBefore: Timestamp(nanoseconds: 0))
        _ = try? fixture.cache.blocking.sweep(olderThan: .seconds(1 << 32), downTo: ByteCount(64 * 4_096))
        if let other = try? fixture.secondCache(observer: fixture.plan) { try? check("c", in: other) }
    }

    private func write(_ bytes: [UInt8], for key: String, number: Int32) throws {
        do {
            try fixture.cache.blocking.insert(bytes, for: key)
            model.allowed[key] = [bytes]
        } catch {
            // The previous entry is unchanged; on a full disk any entry may have been evicted.
            if number == ENOSPC { for key in model.allowed.keys { model.allowed[key]?.insert(nil) } }
            throw error
        }
        if number == ENOSPC { for key in model.allowed.keys { model.allowed[key]?.insert(nil) } }
    }

    private func remove(_ key: String) throws {
        model.allowed[key]?.insert(nil)
        try fixture.cache.blocking.remove(key)
        model.allowed[key] = [nil]
    }

    private func check(_ key: String, in cache: DiskCache? = nil) throws {
        let bytes = try (cache ?? fixture.cache).blocking.read(key)?.bytes
        let isAllowed = model.allowed[key]?.contains(bytes) == true
        #expect(isAllowed, "key \(key) gave \(bytes?.count ?? -1) bytes")
    }
}
