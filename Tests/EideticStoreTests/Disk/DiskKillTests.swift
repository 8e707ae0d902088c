import EideticCore
import EideticDiskWorker
import EideticStore
import EideticTestSupport
import Glibc
import Testing

@Suite("Disk cache: kills", .serialized)
struct DiskCrashTests {
    @Test("C18 C19 two processes killed at any instant lose nothing that was committed, and leave right sizes")
    func nothingIsLost() async throws {
        try await CrashTest(limit: 1 << 30).run(kills: Torture.repetitions(30, full: 2_500))
    }

    @Test("C10 C18 the size limit holds, and no wrong byte is served, after kills while entries are evicted")
    func limitHolds() async throws {
        try await CrashTest(limit: 1 << 20).run(kills: Torture.repetitions(30, full: 2_500))
    }
}

/// Starts two workers, kills them at some instant, and looks at what they left; again and again at one directory.
private struct CrashTest {
    let limit: Int
    private let directory: TemporaryDirectory
    private let program: String

    init(limit: Int) throws {
        self.limit = limit
        directory = try TemporaryDirectory(named: "disk-kills")
        program = try DiskWorker.path()
    }

    private func settings(worker: Int, seed: UInt64) -> CrashTestSettings {
        CrashTestSettings(
            directory: directory.path(of: "cache"),
            journal: directory.path(of: "journal"),
            limit: limit,
            worker: worker,
            seed: seed
        )
    }

    func run(kills: Int) async throws {
        var generator = SeededGenerator(seed: UInt64(limit))
        let journal = try CrashTestJournal(directory.path(of: "journal"))
        for round in 0..<kills / 2 {
            try await killWorkers(generator: UInt64(round), &generator)
            try check(journal, round: round)
        }
    }

    /// Both workers die, but not at the same instant: the other one goes on in between, beside the dead one's remains.
    private func killWorkers(generator round: UInt64, _ generator: inout SeededGenerator) async throws {
        var workers: [Subprocess] = []
        for worker in 0..<CrashTestSettings.workerCount {
            let seed = generator.next()
            workers.append(try Subprocess(program, arguments: settings(worker: worker, seed: seed).arguments))
        }
        for worker in workers {
            #expect(await worker.waitForOutput("ready"))
            // A kill at a moment that nobody chose: this is not a wait for anything.
            usleep(UInt32.random(in: 0..<8_000, using: &generator))
            worker.kill(SIGKILL)
            let result = await worker.waitUntilExit()
            #expect(result.status == .signalled(SIGKILL), "\(result.errorText)")
        }
    }

    private func check(_ journal: CrashTestJournal, round: Int) throws {
        let cache = try settings(worker: 0, seed: 0).openCache()
        let usage = cache.usage
        let real = try measuredUsage()
        #expect(usage == real.usage, "round \(round)")
        #expect(real.strangers.isEmpty, "round \(round)")
        #expect(real.usage.allocatedSize.bytes <= limit, "round \(round)")
        for key in 0..<CrashTestSettings.keyCount { try check(key: key, cache: cache, journal: journal, round: round) }
    }

    private func check(key: Int, cache: DiskCache, journal: CrashTestJournal, round: Int) throws {
        let slot = try journal.record(for: key)
        let bytes = try cache.read(CrashTestValue.key(key))?.bytes
        let found = bytes.map { bytes in
            [slot.committedVersion, slot.pendingVersion].first {
                $0 != 0 && CrashTestValue.bytes(key: key, version: $0) == bytes
            }
        }
        if let found {
            #expect(found != nil, "round \(round), key \(key): bytes that were never committed")
        } else if limit > 1 << 26 {
            #expect(
                slot.committedVersion == 0 || slot.pendingVersion == 0,
                "round \(round), key \(key): a committed entry is lost"
            )
        }
        let version = (found ?? nil) ?? 0
        try journal.setRecord(key, to: CrashTestJournal.Record(committedVersion: version, pendingVersion: version))
    }

    /// What is really there: entries, and files that are none.
    private func measuredUsage() throws -> (usage: DiskCache.Usage, strangers: [String]) {
        var usage = DiskCache.Usage()
        var strangers: [String] = []
        let files = FileSystem()
        let root = directory.path(of: "cache")
        for shard in try files.entryNames(in: root) where shard.utf8.count == 2 {
            for name in try files.entryNames(in: "\(root)/\(shard)") {
                let status = try files.linkStatus(of: "\(root)/\(shard)/\(name)")
                if name.utf8.count != 32 { strangers.append(name) }
                usage.entryCount += 1
                usage.logicalSize = usage.logicalSize + ByteCount(status.size)
                usage.allocatedSize = usage.allocatedSize + ByteCount(status.allocatedSize)
            }
        }
        return (usage, strangers)
    }

}

/// The program that works at a cache as another process; it stands beside the tests' own.
enum DiskWorker {
    static func path() throws -> String {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        var folder = String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        while let slash = folder.lastIndex(of: "/") {
            folder = String(folder[..<slash])
            let path = "\(folder)/EideticDiskWorker"
            if access(path, X_OK) == 0 { return path }
        }
        throw EideticError(.notFound, message: "EideticDiskWorker is not beside the tests")
    }
}
