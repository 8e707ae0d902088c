import EideticCore
import EideticDiskWorker
import EideticStore
import EideticTestSupport
import Glibc
import Testing

@Suite("Disk cache: crashes", .serialized)
struct DiskCrashTests {
    @Test("C18 C19 C23 two processes killed at any instant lose no committed entry, and leave right totals")
    func nothingIsLost() async throws {
        try await CrashTest(limit: 1 << 30).run(kills: Torture.repetitions(30, full: 2_500))
    }

    @Test("C10 C18 the size limit holds, and no wrong byte is served, after kills during evictions")
    func limitHolds() async throws {
        try await CrashTest(limit: 1 << 20).run(kills: Torture.repetitions(30, full: 2_500))
    }

    @Test("C18 a process that is killed between the record of a removal and the removal leaves no file to the next")
    func killedRemoval() async throws {
        let fixture = try DiskFixture(), path = fixture.cache.configuration.directory
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let plan = FaultPlan(), configuration = DiskCache.Configuration(directory: path)
            let cache = try DiskCache(configuration, fileSystem: FileSystem(observer: plan))
            try cache.blocking.insert([1], for: "a")
            plan.before(.unlink) { kill(getpid(), SIGKILL) }
            try cache.blocking.remove("a")
        }
        #expect(try fixture.measuredUsage().entryCount == 1)
        #expect(try fixture.cache.blocking.read("a") == nil)
        try fixture.cache.blocking.insert([2], for: "b")
        #expect(try fixture.measuredUsage() == fixture.cache.blocking.usage)
        #expect(fixture.cache.blocking.usage.entryCount == 1)
    }
}

/// A test that repeatedly starts two workers on one directory, kills them, and checks the directory.
private struct CrashTest {
    let limit: Int
    private let directory: TemporaryDirectory
    private let program: String

    init(limit: Int) throws {
        self.limit = limit
        directory = try TemporaryDirectory(named: "disk-kills")
        program = DiskWorker.path
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
            try await killWorkers(using: &generator)
            try check(journal, round: round)
        }
    }

    /// Kills both workers one after the other, so that the second one finds the unfinished work of the first.
    private func killWorkers(using generator: inout SeededGenerator) async throws {
        var workers: [Subprocess] = []
        for worker in 0..<CrashTestSettings.workerCount {
            let seed = generator.next()
            workers.append(try Subprocess(program, arguments: settings(worker: worker, seed: seed).arguments))
        }
        for worker in workers {
            #expect(await worker.waitForOutput("ready"))
            RandomMoment.pass(within: .milliseconds(8), using: &generator)
            worker.kill(SIGKILL)
            let result = await worker.waitUntilExit()
            #expect(result.status == .signalled(SIGKILL), "\(result.errorText)")
        }
    }

    private func check(_ journal: CrashTestJournal, round: Int) throws {
        let cache = try settings(worker: 0, seed: 0).openCache()
        let usage = cache.blocking.usage
        let measured = try measuredUsage()
        #expect(usage == measured.usage, "round \(round)")
        #expect(measured.otherFiles.isEmpty, "round \(round)")
        #expect(measured.usage.allocatedSize.bytes <= limit, "round \(round)")
        for key in 0..<CrashTestSettings.keyCount { try check(key: key, cache: cache, journal: journal, round: round) }
    }

    private func check(key: Int, cache: DiskCache, journal: CrashTestJournal, round: Int) throws {
        let record = try journal.record(for: key)
        let bytes = try cache.blocking.read(CrashTestValue.key(key))?.bytes
        let found = bytes.map { bytes in
            [record.committedVersion, record.pendingVersion].first { version in
                version != 0 && CrashTestValue.bytes(key: key, version: version) == bytes
            }
        }
        if let found {
            #expect(found != nil, "round \(round), key \(key): bytes that were never committed")
        } else if limit > 1 << 26 {
            let mayBeAbsent = record.committedVersion == 0 || record.pendingVersion == 0
            #expect(mayBeAbsent, "round \(round), key \(key): a committed entry is lost")
        }
        let version = (found ?? nil) ?? 0
        try journal.setRecord(CrashTestJournal.Record(committedVersion: version, pendingVersion: version), for: key)
    }

    /// Returns the usage counted from the files, and the names of other files.
    private func measuredUsage() throws -> (usage: DiskCache.Usage, otherFiles: [String]) {
        var usage = DiskCache.Usage()
        var otherFiles: [String] = []
        let files = FileSystem()
        let root = directory.path(of: "cache")
        for shard in try files.entryNames(in: root) where shard.utf8.count == 2 {
            for name in try files.entryNames(in: "\(root)/\(shard)") {
                let status = try files.linkStatus(of: "\(root)/\(shard)/\(name)")
                if name.utf8.count != 32 { otherFiles.append(name) }
                usage.entryCount += 1
                usage.logicalSize = usage.logicalSize + ByteCount(status.size)
                usage.allocatedSize = usage.allocatedSize + ByteCount(status.allocatedSize)
            }
        }
        return (usage, otherFiles)
    }

}

/// The program that uses a cache as another process; it is in the build directory of the tests.
enum DiskWorker {
    static let path = BuiltProgram.path(of: "EideticDiskWorker")
}
