import EideticCore
import EideticHTTP
import EideticStore
import EideticTestSupport
import FoundationEssentials
import Glibc
import Testing

@Suite("Disk cache")
struct DiskCacheTests {
    @Test("C18 a stored entry is read back with all of its metadata")
    func roundTrip() throws {
        let fixture = try DiskFixture()
        var metadata = DiskCache.Metadata(headers: [
            .init(name: "ETag", value: "\"a\""), .init(name: "Vary", value: ""),
        ])
        metadata.extendedData = [1, 2, 3]
        metadata.kind = .derived
        metadata.response.status = 203
        metadata.response.requestTime = Timestamp(nanoseconds: 1)
        metadata.response.redirectLifetime = .zero
        metadata.response.replacementTime = Timestamp(nanoseconds: -5)
        metadata.response.mustRevalidateRedirects = true
        metadata.response.dependsOnHooks = true
        metadata.response.effectiveURL = .max
        metadata.response.variants = 7
        metadata.response.selectingDigest = "0a1b"
        metadata.response.placeholder = "a!b!#c00"
        try fixture.cache.blocking.insert(pattern(20_000), for: "http://a/b.png?x=1.2", metadata: metadata)
        let entry = try #require(try fixture.cache.blocking.read("http://a/b.png?x=1.2"))
        #expect(entry.bytes == pattern(20_000))
        #expect(entry.key == "http://a/b.png?x=1.2")
        metadata.storageTime = fixture.time.now
        #expect(entry.metadata == metadata)
    }

    @Test(
        "C18 an entry of an earlier or later format is a miss and is replaced; it does not count as damaged",
        arguments: [1, 3, 255] as [UInt8]
    )
    func otherVersion(version: UInt8) throws {
        let fixture = try DiskFixture()
        try fixture.cache.blocking.insert(pattern(100), for: "k")
        let file = try FileSystem().open(fixture.cache.path(for: "k"), flags: O_WRONLY)
        let size = try FileSystem().size(of: file)
        // The eighth byte of the trailer of 64 bytes is the version.
        let number = file.rawValue
        #expect(pwrite(number, [version], 1, size - 57) == 1)
        #expect(try fixture.cache.lookup.find("k") == .absent)
        #expect(try fixture.measuredUsage() == DiskCache.Usage())
        try fixture.cache.blocking.insert(pattern(200), for: "k")
        #expect(try fixture.cache.blocking.read("k")?.bytes == pattern(200))
    }

    @Test("C16 any bytes are stored, also empty ones", arguments: [0, 1, 63, 4_096, 300_000])
    func sizes(_ size: Int) throws {
        let fixture = try DiskFixture()
        try fixture.cache.blocking.insert(pattern(size), for: "k")
        #expect(try fixture.cache.blocking.read("k")?.bytes == pattern(size))
        #expect(try fixture.cache.scan.verify().damaged.isEmpty)
    }

    @Test("C04 an empty or over-long key is safe")
    func badKeys() throws {
        let fixture = try DiskFixture()
        for key in ["", String(repeating: "k", count: 65_537)] {
            #expect(throws: EideticError.self) { try fixture.cache.blocking.insert([1], for: key) }
            #expect(try fixture.cache.blocking.read(key) == nil)
            #expect(try fixture.cache.blocking.remove(key) == nil)
        }
        let longest = String(repeating: "ä", count: 32_768)
        try fixture.cache.blocking.insert([1], for: longest)
        #expect(try fixture.cache.blocking.read(longest)?.bytes == [1])
        #expect(try fixture.cache.lookup.info(for: longest)?.key == longest)
    }

    @Test("C09 an entry is served for a week from its write, or until its own expiration time")
    func expiry() throws {
        let fixture = try DiskFixture()
        try fixture.cache.blocking.insert([1], for: "week")
        let hour = fixture.time.now + .seconds(3_600)
        try fixture.cache.blocking.insert([2], for: "hour", metadata: .init(expirationTime: hour))
        fixture.time.advance(by: .seconds(3_599))
        #expect(try fixture.cache.blocking.contains("hour"))
        fixture.time.advance(by: .seconds(1))
        #expect(try fixture.cache.blocking.read("hour") == nil)
        #expect(try !fixture.cache.blocking.contains("hour"))
        #expect(try fixture.cache.blocking.read("hour", allowingExpired: true)?.bytes == [2])
        fixture.time.advance(by: .seconds(7 * 86_400 - 3_601))
        #expect(try fixture.cache.blocking.read("week")?.bytes == [1])
        fixture.time.advance(by: .seconds(1))
        #expect(try fixture.cache.blocking.read("week") == nil)
        #expect(try fixture.cache.blocking.removeExpired() == 2)
        #expect(fixture.cache.blocking.usage == DiskCache.Usage())
    }

    @Test("C09 an entry written while the clock was ahead is not served for years")
    func wrongClock() throws {
        let fixture = try DiskFixture()
        fixture.time.advance(by: .seconds(7 * 86_400))
        try fixture.cache.blocking.insert([1], for: "week ahead")
        fixture.time.advance(by: .seconds(1))
        try fixture.cache.blocking.insert([2], for: "more")
        fixture.time.advance(by: .seconds(-7 * 86_400 - 1))
        #expect(try fixture.cache.blocking.read("week ahead")?.bytes == [1])
        #expect(try fixture.cache.lookup.find("more") == .expired)
        #expect(try fixture.cache.lookup.info(for: "more")?.isExpired == true)
    }

    @Test(
        "C09 by creation, an entry written while the clock was ahead and then validated expires as if written then"
    )
    func wrongClockValidated() throws {
        let fixture = try DiskFixture {
            $0.maximumAge = .seconds(100)
            $0.ageBasis = .creation
        }
        fixture.time.advance(by: .seconds(1_000))
        try fixture.cache.blocking.insert([1], for: "a")
        fixture.time.advance(by: .seconds(-1_000))
        let entry = try #require(try fixture.cache.blocking.read("a", allowingExpired: true))
        #expect(
            try fixture.cache.writer.replaceMetadata(
                of: entry,
                with: .init(headers: [.init(name: "ETag", value: "1")])
            )
        )
        #expect(try fixture.cache.blocking.read("a")?.bytes == [1])
        fixture.time.advance(by: .seconds(100))
        #expect(try fixture.cache.blocking.read("a") == nil)
    }

    @Test("C09 by access, each read extends an entry's life, and expired entries are removed without it")
    func expiresAfterUse() throws {
        let fixture = try DiskFixture {
            $0.maximumAge = .seconds(100)
            $0.ageBasis = .access
        }
        let (cache, time) = (fixture.cache, fixture.time), files = FileSystem()
        for key in ["used", "idle"] {
            try cache.blocking.insert([1], for: key)
            // The file system has a clock of its own, not the test's.
            try files.setModificationTime(of: cache.path(for: key), to: time.now)
        }
        try cache.blocking.insert([1], for: "own", metadata: .init(expirationTime: time.now + .seconds(100)))
        for _ in 0..<5 {
            time.advance(by: .seconds(60))
            #expect(try cache.blocking.read("used") != nil)
        }
        #expect(try cache.lookup.info(for: "used")?.isExpired == false)
        #expect(try cache.blocking.read("own") == nil)
        #expect(try cache.blocking.read("idle") == nil)
        #expect(try cache.blocking.removeExpired() == 2)
        time.advance(by: .seconds(99))
        #expect(try cache.blocking.removeExpired() == 0)
        time.advance(by: .seconds(1))
        #expect(try cache.lookup.find("used") == .expired)
        #expect(try cache.blocking.removeExpired() == 1)
        #expect(cache.blocking.usage.entryCount == 0)
    }

    @Test("C09 by access, a removal that fails to open a file keeps the whole batch in the usage")
    func sweepFails() throws {
        let fixture = try DiskFixture {
            $0.maximumAge = .seconds(100)
            $0.ageBasis = .access
        }
        let (cache, time) = (fixture.cache, fixture.time)
        for key in ["a", "b", "c"] {
            try cache.blocking.insert([1], for: key)
            try FileSystem().setModificationTime(of: cache.path(for: key), to: time.now)
        }
        time.advance(by: .seconds(100))
        // The third open fails, whatever the order of the entries.
        fixture.plan.fail(.open, with: EMFILE, at: 3, pathContaining: "\(cache.configuration.directory)/")
        #expect(errorCode { try cache.blocking.removeExpired() } != nil)
        fixture.plan.removeAllRules()
        #expect(cache.blocking.usage == (try fixture.measuredUsage()))
        #expect(try cache.blocking.removeExpired() == 3)
        #expect(try fixture.measuredUsage() == DiskCache.Usage())
    }

    @Test("C09 by access, the age of an entry that is evicted or replaced during a read is that of the file read")
    func replacedDuringRead() throws {
        let fixture = try DiskFixture {
            $0.maximumAge = .seconds(100)
            $0.ageBasis = .access
        }
        let (cache, time) = (fixture.cache, fixture.time), other = try fixture.secondCache()
        for key in ["evicted", "replaced"] {
            try cache.blocking.insert([1], for: key)
            try FileSystem().setModificationTime(of: cache.path(for: key), to: time.now)
        }
        let path = cache.path(for: "evicted")
        fixture.plan.before(.pread) { try? FileSystem().unlink(path) }
        #expect(try cache.blocking.read("evicted")?.bytes == [1])
        time.advance(by: .seconds(100))
        fixture.plan.before(.pread) {
            try? other.blocking.insert([2], for: "replaced")
            try? FileSystem().setModificationTime(of: other.path(for: "replaced"), to: time.now)
        }
        #expect(try cache.lookup.find("replaced") == .expired)
        #expect(try cache.blocking.read("replaced")?.bytes == [2])
    }

    @Test("C09 by creation, new metadata do not extend an entry's life; by change they do")
    func expiresAfterCreation() throws {
        for (expiry, isServed) in [(DiskCache.Configuration.AgeBasis.creation, false), (.change, true)] {
            let fixture = try DiskFixture {
                $0.maximumAge = .seconds(100)
                $0.ageBasis = expiry
            }
            try fixture.cache.blocking.insert([1], for: "a")
            fixture.time.advance(by: .seconds(60))
            let entry = try #require(try fixture.cache.blocking.read("a"))
            #expect(
                try fixture.cache.writer.replaceMetadata(
                    of: entry,
                    with: .init(headers: [.init(name: "ETag", value: "1")])
                )
            )
            fixture.time.advance(by: .seconds(60))
            #expect((try fixture.cache.blocking.read("a") != nil) == isServed)
            #expect(try fixture.cache.blocking.removeExpired() == (isServed ? 0 : 1))
        }
    }

    @Test("C12 usage has the number of entries, their size and their allocated size")
    func usage() throws {
        let fixture = try DiskFixture()
        #expect(fixture.cache.blocking.usage == DiskCache.Usage())
        try fixture.cache.blocking.insert(pattern(10_000), for: "a")
        try fixture.cache.blocking.insert(pattern(20_000), for: "b")
        try fixture.cache.blocking.insert(pattern(100), for: "a")
        let usage = fixture.cache.blocking.usage
        #expect(usage.entryCount == 2)
        #expect(usage.logicalSize.bytes > 20_100 && usage.logicalSize.bytes < 20_400)
        #expect(usage.allocatedSize.bytes == (20_480 + 4_096))
        try fixture.cache.blocking.removeAll()
        #expect(fixture.cache.blocking.usage == DiskCache.Usage())
        #expect(try fixture.cache.blocking.read("a") == nil)
    }

    @Test("C12 usage makes the same system calls with ten entries as with three hundred")
    func usageCost() throws {
        let calls = try [10, 300].map { count in
            let fixture = try DiskFixture()
            for index in 0..<count { try fixture.cache.blocking.insert([1], for: "\(index)") }
            fixture.plan.resetCalls()
            #expect(fixture.cache.blocking.usage.entryCount == count)
            return fixture.plan.calls.count
        }
        #expect(calls[0] == calls[1])
    }

    @Test("C12 usage of a directory that is only read comes from its ledger; without one the files are counted")
    func readOnlyUsage() throws {
        let fixture = try DiskFixture(), observer = FaultPlan()
        for index in 0..<100 { try fixture.cache.blocking.insert([1], for: "\(index)") }
        var configuration = fixture.cache.configuration
        configuration.isReadOnly = true
        let files = FileSystem(observer: observer)
        let reader = try DiskCache(configuration, fileSystem: files, time: fixture.time)
        #expect(try reader.blocking.usage == fixture.measuredUsage())
        #expect(observer.count(of: .lstat) < 10)
        #expect(!observer.calls.contains { [.unlink, .rename, .pwrite, .mkdir, .fallocate].contains($0.call) })
        try fixture.cache.blocking.insert([1, 2, 3], for: "100")
        observer.resetCalls()
        #expect(try reader.blocking.usage == fixture.measuredUsage())
        #expect(observer.calls.count < 10)
        try FileSystem().unlink("\(configuration.directory)/ledger")
        let other = try DiskCache(configuration, fileSystem: files, time: fixture.time)
        #expect(try other.blocking.usage == fixture.measuredUsage())
    }

    @Test("C03 the default directory follows the rules of XDG")
    func defaultDirectory() {
        #expect(DiskCache.defaultDirectory().hasSuffix("/eidetic/default"))
        #expect(DiskCache.defaultDirectory().hasPrefix("/"))
        #expect(DiskCache.defaultDirectory(namespace: "a/../b").hasSuffix("/eidetic/a_.._b"))
        #expect(DiskCache.defaultDirectory(namespace: "a/\u{301}b").hasSuffix("/eidetic/a_\u{301}b"))
        #expect(DiskCache.defaultDirectory(namespace: "..").hasSuffix("/eidetic/_"))
    }

    @Test("C13 the directory is tagged as a cache")
    func tag() throws {
        let fixture = try DiskFixture()
        let tag = try fixture.directory.contents(of: "cache/CACHEDIR.TAG")
        #expect(String(decoding: tag, as: UTF8.self).hasPrefix("Signature: 8a477f597d28d172789f06886806bc55\n"))
    }

    @Test("C03 a relative directory is below the working directory")
    func relativeDirectory() throws {
        let directory = try TemporaryDirectory()
        let working = getcwd(nil, 0).map { path in
            defer { free(path) }
            return String(cString: path)
        }
        // From the working directory to the root, and down again.
        let depth = try #require(working).split(separator: "/").count
        let path = String(repeating: "../", count: depth) + directory.path.dropFirst()
        var configuration = DiskCache.Configuration(directory: "\(path)/cache")
        configuration.requiresPrivateDirectory = false
        let cache = try DiskCache(configuration)
        #expect(cache.configuration.directory.hasPrefix("/"))
        #expect(try directory.contents(of: "cache/CACHEDIR.TAG").isEmpty == false)
    }

    @Test("C03 the error of an unusable directory has the right code")
    func badDirectories() throws {
        let directory = try TemporaryDirectory()
        try directory.write([1], to: "file")
        #expect(errorCode { _ = try DiskCache(.init(directory: directory.path(of: "file"))) } == .cacheUnavailable)
        #expect(
            errorCode { _ = try DiskCache(.init(directory: directory.path(of: "file/below"))) } == .cacheUnavailable
        )
        #expect(errorCode { _ = try DiskCache(.init(directory: "")) } == .invalidArgument)
        let failures: [(SystemCall, Int32, EideticError.Code)] = [
            (.mkdir, EACCES, .permissionDenied), (.mkdir, EROFS, .permissionDenied), (.mkdir, ENOSPC, .diskFull),
            (.access, EACCES, .permissionDenied), (.stat, EIO, .fileFailure),
        ]
        for (call, number, expected) in failures {
            let plan = FaultPlan()
            plan.fail(call, with: number)
            let thrownCode = errorCode {
                _ = try DiskCache(.init(directory: directory.path(of: "new")), fileSystem: FileSystem(observer: plan))
            }
            #expect(thrownCode == expected)
        }
    }

    @Test("C14 the asynchronous forms return the same results, and make no system call on the main thread")
    @MainActor
    func asynchronous() async throws {
        let fixture = try DiskFixture()
        let calls = ThreadCallCounter()
        let cache = try fixture.secondCache(observer: calls)
        #expect(calls.drain().main > 0)
        try await cache.insert([1, 2], for: "a")
        #expect(try await cache.read("a")?.bytes == [1, 2])
        #expect(try await cache.read("b") == nil)
        #expect(try await cache.contains("a"))
        #expect(try await cache.entries().map(\.key) == ["a"])
        #expect(try await cache.usage.entryCount == 1)
        let entry = try #require(try await cache.read("a"))
        #expect(try await cache.replaceMetadata(of: entry, with: .init(expirationTime: fixture.time.now)))
        #expect(try await cache.removeExpired() == 1)
        try await cache.insert([3], for: "c")
        #expect(try await cache.remove("c")?.path() == cache.path(for: "c"))
        #expect(try await cache.remove("c") == nil)
        try await cache.insert([4], for: "d")
        #expect(try await cache.trim(toSize: .zero) == 1)
        try await cache.removeAll()
        let callCounts = calls.drain()
        #expect(callCounts.main == 0)
        #expect(callCounts.others > 30)
        #expect(try cache.blocking.remove("c") == nil)
    }
}

/// A counter of system calls on the thread that created it, and on other threads.
private final class ThreadCallCounter: SystemCallObserver {
    private let main = pthread_self()
    private let counts = Guarded((main: 0, others: 0))

    func willPerform(_ call: SystemCall, path: String?) -> Int32? {
        let isMain = pthread_equal(pthread_self(), main) != 0
        counts.withLock { counts in if isMain { counts.main += 1 } else { counts.others += 1 } }
        return nil
    }

    /// Returns the numbers of calls since the last time, and resets them.
    func drain() -> (main: Int, others: Int) {
        counts.withLock { counts in
            defer { counts = (0, 0) }
            return counts
        }
    }
}
