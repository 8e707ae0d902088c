import EideticCore
import EideticStore
import EideticTestSupport
import Glibc
import Testing

@Suite("Disk cache: sizes and limits")
struct DiskLedgerTests {
    @Test("C10 the size limit holds after every write, over two caches of one directory")
    func limit() throws {
        let fixture = try DiskFixture { $0.sizeLimit = ByteCount(40 * 4_096) }
        let other = try fixture.secondCache()
        for index in 0..<100 {
            try (index % 2 == 0 ? fixture.cache : other).blocking.insert(
                pattern(3_000 + index % 3 * 4_000),
                for: "\(index)"
            )
            let real = try fixture.measuredUsage()
            #expect(real.allocatedSize.bytes <= 40 * 4_096)
            #expect(fixture.cache.blocking.usage == real)
            #expect(other.blocking.usage == real)
        }
        #expect(fixture.cache.blocking.usage.entryCount > 15)
    }

    @Test(
        "C10 the default limit is 2 % of the free space, between 64 and 512 MiB",
        arguments: [(0, 64), (3_200, 64), (3_250, 65), (10_000, 200), (25_600, 512), (1 << 30, 512)]
    )
    func defaultLimit(free: Int, limit: Int) throws {
        #expect(ByteCount.defaultDiskCacheLimit(freeSpace: .mebibytes(free)) == .mebibytes(limit))
    }

    @Test("C10 the size limit changes while the cache runs: the next write evicts down to a smaller one")
    func changedLimit() throws {
        let fixture = try DiskFixture { $0.sizeLimit = .mebibytes(1) }, cache = fixture.cache
        for index in 0..<100 { try cache.blocking.insert(pattern(3_000), for: "\(index)") }
        cache.sizeLimit = ByteCount(40 * 4_096)
        #expect(cache.sizeLimit == ByteCount(40 * 4_096))
        try cache.blocking.insert(pattern(3_000), for: "new")
        #expect(try fixture.measuredUsage().allocatedSize.bytes <= 40 * 4_096)
        #expect(try cache.blocking.read("new") != nil)
        cache.sizeLimit = .mebibytes(1)
        for index in 0..<100 { try cache.blocking.insert(pattern(3_000), for: "\(index)") }
        #expect(try fixture.measuredUsage().entryCount >= 100)
        cache.sizeLimit = .zero
        #expect(cache.sizeLimit == ByteCount(1))
        #expect(errorCode { try cache.blocking.insert(pattern(1), for: "k") } == .limitExceeded)
    }

    @Test("C10 an entry larger than half of the limit is refused")
    func tooLarge() throws {
        let fixture = try DiskFixture { $0.sizeLimit = .mebibytes(1) }
        #expect(errorCode { try fixture.cache.blocking.insert(pattern(600_000), for: "k") } == .limitExceeded)
        #expect(fixture.cache.blocking.usage == DiskCache.Usage())
        try fixture.cache.blocking.insert(pattern(500_000), for: "k")
        #expect(fixture.cache.blocking.usage.entryCount == 1)
    }

    @Test("C10 entries that are read often and the user's entries stay longest, derived entries keep to their share")
    func order() throws {
        let fixture = try DiskFixture { $0.sizeLimit = ByteCount(40 * 4_096) }
        var mine = DiskCache.Metadata()
        mine.importance = .user
        try fixture.cache.blocking.insert(pattern(3_000), for: "mine", metadata: mine)
        try fixture.cache.blocking.insert(pattern(3_000), for: "often")
        var derived = DiskCache.Metadata()
        derived.kind = .derived
        for index in 0..<100 {
            #expect(try fixture.cache.blocking.read("often") != nil)
            try fixture.cache.blocking.insert(pattern(3_000), for: "\(index)")
            try fixture.cache.blocking.insert(pattern(3_000), for: "d\(index)", metadata: derived)
        }
        #expect(try fixture.cache.blocking.read("mine") != nil)
        #expect(try fixture.cache.blocking.read("often") != nil)
        let kept = try fixture.cache.blocking.entries().count { $0.metadata.kind == .derived }
        #expect((8...11).contains(kept))
    }

    @Test("C10 a trim evicts derived entries first, and stops at the size")
    func trim() throws {
        let fixture = try DiskFixture()
        var derived = DiskCache.Metadata()
        derived.kind = .derived
        for index in 0..<100 {
            try fixture.cache.blocking.insert(pattern(3_000), for: "o\(index)")
            try fixture.cache.blocking.insert(pattern(3_000), for: "d\(index)", metadata: derived)
        }
        #expect(try fixture.cache.blocking.trim(toSize: ByteCount(120 * 4_096)) == 80)
        #expect(try fixture.cache.blocking.entries().count { $0.metadata.kind == .original } == 100)
        #expect(try fixture.cache.blocking.trim(toSize: .zero) == 120)
        #expect(try fixture.measuredUsage() == DiskCache.Usage())
        #expect(fixture.cache.blocking.usage == DiskCache.Usage())
    }

    @Test(
        "C18 a missing, damaged or truncated ledger is rebuilt from the files",
        arguments: LedgerDamage.allCases
    )
    func rebuild(_ damage: LedgerDamage) throws {
        let fixture = try DiskFixture()
        for index in 0..<50 { try fixture.cache.blocking.insert(pattern(index * 50), for: "\(index)") }
        let real = try fixture.measuredUsage()
        try damage.apply(to: "\(fixture.cache.configuration.directory)/ledger")
        for cache in [fixture.cache, try fixture.secondCache()] {
            #expect(cache.blocking.usage == real)
            #expect(try cache.blocking.read("7")?.bytes == pattern(350))
        }
        try fixture.cache.blocking.insert([1], for: "new")
        #expect(try fixture.secondCache().blocking.usage.entryCount == 51)
    }

    @Test("C18 whichever byte of the ledger changes, the entries and their sizes stay the same")
    func damagedBytes() throws {
        let fixture = try DiskFixture(), root = fixture.cache.configuration.directory, files = FileSystem()
        for index in 0..<3 { try fixture.cache.blocking.insert(pattern(index * 50), for: "\(index)") }
        let real = try fixture.measuredUsage(), ledger = try files.contents(of: "\(root)/ledger")
        let step = Torture.isFull ? 1 : 3
        for index in stride(from: 0, to: ledger.count, by: step) {
            var damaged = ledger
            damaged[index] ^= [0x01, 0x80, 0xff][index / step % 3]
            try files.replaceContents(of: "\(root)/ledger", with: damaged)
            let cache = try fixture.secondCache()
            #expect(cache.blocking.usage == real, "byte \(index)")
            for key in 0..<3 { #expect(try cache.blocking.read("\(key)")?.bytes == pattern(key * 50), "byte \(index)") }
        }
        #expect(fixture.cache.blocking.usage == real)
    }

    @Test("C18 a removed directory is created again")
    func removedDirectory() throws {
        let fixture = try DiskFixture()
        let other = try fixture.secondCache()
        try fixture.cache.blocking.insert([1], for: "a")
        try other.blocking.insert([2], for: "b")
        try removeTree(fixture.cache.configuration.directory)
        #expect(try other.blocking.read("a") == nil)
        try other.blocking.insert([3], for: "c")
        try fixture.cache.blocking.insert([4], for: "d")
        #expect(try other.blocking.read("d")?.bytes == [4])
        #expect(other.blocking.usage.entryCount == 2)
        #expect(fixture.cache.blocking.usage.entryCount == 2)
    }

    @Test("C12 usage stays right over thousands of operations and rewrites of the ledger")
    func manyOperations() throws {
        let fixture = try DiskFixture()
        let other = try fixture.secondCache()
        for round in 0..<3_000 {
            let cache = round % 3 == 0 ? other : fixture.cache
            if round % 5 == 4 {
                try cache.blocking.remove("\(round % 40)")
            } else {
                try cache.blocking.insert([1, 2], for: "\(round % 41)")
            }
        }
        let real = try fixture.measuredUsage()
        #expect(fixture.cache.blocking.usage == real)
        #expect(other.blocking.usage == real)
        #expect(try fixture.secondCache().blocking.usage == real)
        let ledger = try FileSystem().status(of: "\(fixture.cache.configuration.directory)/ledger")
        #expect(ledger.size < 1 << 20)
    }

    @Test("C18 opening and the first read scan no directory")
    func opening() throws {
        let fixture = try DiskFixture()
        for index in 0..<300 { try fixture.cache.blocking.insert([1], for: "\(index)") }
        let plan = FaultPlan()
        let cache = try fixture.secondCache(observer: plan)
        #expect(try cache.blocking.read("7") != nil)
        #expect(plan.count(of: .readdir) == 0)
        // The owner and mode of each directory on the path cost a call.
        #expect(plan.count(of: .lstat) < 12)
        #expect(plan.calls.count { $0.call != .lstat } < 12)
        plan.resetCalls()
        #expect(try cache.blocking.read("7") != nil)
        #expect(try cache.blocking.read("none") == nil)
        #expect(plan.calls.map(\.call) == [.open, .lseek, .pread, .open])
    }
}

/// A kind of damage to a ledger.
enum LedgerDamage: CaseIterable {
    case removed, empty, headCut, recordCut, bitFlipped, garbage

    func apply(to path: String) throws {
        let files = FileSystem()
        if self == .removed { return try files.unlink(path) }
        let file = try files.open(path, flags: O_RDWR)
        let size = try files.status(of: file).size
        switch self {
        case .removed: break
        case .empty: try files.truncate(file, to: 0)
        case .headCut: try files.truncate(file, to: 40)
        case .recordCut: try files.truncate(file, to: size - 64 * 20)
        case .bitFlipped: try write([0xa5], at: size / 2, to: file)
        case .garbage: try write(pattern(500), at: size, to: file)
        }
    }

    private func write(_ bytes: [UInt8], at offset: Int, to file: borrowing FileDescriptor) throws {
        var failure: (any Error)?
        let number = file.rawValue
        bytes.withUnsafeBytes { bytes in
            if pwrite(number, bytes.baseAddress, bytes.count, offset) != bytes.count {
                failure = EideticError.cancelled
            }
        }
        if let failure { throw failure }
    }
}
