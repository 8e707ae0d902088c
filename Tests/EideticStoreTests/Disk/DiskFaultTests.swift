import EideticCore
import EideticStore
import EideticTestSupport
import Glibc
import Testing

@Suite("Disk cache: faults")
struct DiskFaultTests {
    static let numbers = [ENOSPC, EIO, EACCES, EMFILE, EINTR]
    static let calls: [SystemCall] = [
        .open, .write, .pread, .pwrite, .fstat, .stat, .lstat, .rename, .unlink, .mkdir, .readdir, .flock, .fallocate,
        .statvfs, .access, .fdatasync,
    ]

    @Test("C18 whichever call fails, once or always, answers are right or typed errors", arguments: calls, numbers)
    func everyCall(_ call: SystemCall, _ number: Int32) throws {
        for position in Torture.isFull ? [1, 2, 3, 4, 5, 6] : [1, 3] {
            try FaultRun().run(call, number, at: position, count: number == EINTR ? 3 : 1)
        }
        if number != EINTR { try FaultRun().run(call, number, at: 1, count: .max) }
    }

    @Test("C18 a device that fails stops writing for a minute, and reading goes on")
    func failingDevice() throws {
        let fixture = try DiskFixture()
        try fixture.cache.write([1], for: "a")
        fixture.plan.fail(.write, with: EIO)
        #expect(code { try fixture.cache.write([2], for: "b") } == .fileFailure)
        fixture.plan.resetCalls()
        #expect(code { try fixture.cache.write([2], for: "b") } == .fileFailure)
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
        #expect(fixture.cache.usage.entries < 40)
        fixture.plan.fail(.write, with: ENOSPC, count: 2)
        #expect(code { try fixture.cache.write([2], for: "newer") } == .diskFull)
        #expect(fixture.cache.usage == (try fixture.realUsage()))
    }

    @Test("C10 free space and inodes of the file system are guarded")
    func guards() throws {
        let fixture = try DiskFixture { $0.minimumFreeSpace = ByteCount(1 << 60) }
        #expect(code { try fixture.cache.write([1], for: "a") } == .diskFull)
        #expect(fixture.cache.usage == (try fixture.realUsage()))
    }

    @Test(
        "C18 random damage: no damaged entry is served, each is named by verify",
        arguments: 0..<Torture.count(2, full: 20)
    )
    func damage(_ seed: Int) throws {
        let fixture = try DiskFixture()
        var generator = SystemRandomNumberGenerator()
        for index in 0..<200 {
            try fixture.cache.write(pattern(Int.random(in: 0..<3_000), seed: seed), for: "\(index)")
        }
        let originals = try (0..<200).map { try #require(try fixture.cache.read("\($0)")).bytes }
        for index in 0..<200 {
            let other = fixture.cache.path(for: "\((index + 1) % 200)")
            try damage(fixture.cache.path(for: "\(index)"), other, &generator)
        }
        let damaged = try fixture.cache.verify().damaged
        var served = 0
        for index in 0..<200 {
            guard let bytes = try fixture.cache.read("\(index)")?.bytes else { continue }
            #expect(bytes == originals[index])
            served += 1
        }
        #expect(served + damaged.count == 200)
        #expect(damaged.count >= 190)
        #expect(try fixture.cache.verify().damaged.isEmpty)
        #expect(fixture.cache.usage == (try fixture.realUsage()))
    }

    private func damage(_ path: String, _ other: String, _ generator: inout some RandomNumberGenerator) throws {
        var bytes = try FileSystem().contents(of: path)
        switch Int.random(in: 0..<5, using: &generator) {
        case 0:
            bytes[Int.random(in: 0..<bytes.count, using: &generator)] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 1: bytes.removeLast(Int.random(in: 1...bytes.count, using: &generator))
        case 2: bytes = try FileSystem().contents(of: other)
        case 3: bytes = []
        default: bytes.append(0)
        }
        let file = try FileSystem().open(path, O_WRONLY | O_TRUNC)
        let number = file.number
        #expect(bytes.withUnsafeBytes { Glibc.write(number, $0.baseAddress, $0.count) } == bytes.count)
    }
}

/// A fixed run of operations with a model of what may be answered.
private struct FaultRun {
    /// For each key the bytes that a read may give; `nil` stands for a miss.
    private final class Model {
        var allowed: [String: Set<[UInt8]?>] = [:]
    }

    private let fixture: DiskFixture
    private let model = Model()

    init() throws {
        fixture = try DiskFixture {
            $0.sizeLimit = ByteCount(64 * 4_096)
            $0.isDurable = true
        }
    }

    func run(_ call: SystemCall, _ number: Int32, at position: Int, count: Int) throws {
        let before = Set("abcdefgh".map(String.init))
        for key in before { try write(pattern(2_000, seed: 1), key, number) }
        fixture.plan.fail(call, with: number, at: position, count: count)
        for round in 2..<4 {
            for key in before { try? write(pattern(3_000, seed: round), key, number) }
            for key in before { try? check(key) }
            try? remove("a")
            _ = try? fixture.cache.removeExpired()
            _ = fixture.cache.usage
            _ = try? fixture.cache.entries()
        }
        fixture.plan.clear()
        fixture.time.advance(by: .seconds(61))
        for key in before { try check(key) }
        #expect(fixture.cache.usage == (try fixture.realUsage()))
        #expect(try fixture.second().usage == (try fixture.realUsage()))
        try fixture.cache.removeAll()
        #expect(try fixture.realUsage() == DiskCache.Usage())
    }

    private func write(_ bytes: [UInt8], _ key: String, _ number: Int32) throws {
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

    private func check(_ key: String) throws {
        let bytes = try fixture.cache.read(key)?.bytes
        let isAllowed = model.allowed[key]?.contains(bytes) == true
        #expect(isAllowed, "key \(key) gave \(bytes?.count ?? -1) bytes")
    }
}
