import EideticCore
import EideticStore
import EideticTestSupport
import Glibc
import Testing

@Suite("Disk cache: refreshing")
struct DiskMetadataReplacementTests {
    private func metadata(date value: String) -> DiskCache.Metadata {
        DiskCache.Metadata(headers: [.init(name: "ETag", value: "\"1\""), .init(name: "Date", value: value)])
    }

    private func fixture() throws -> (DiskFixture, DiskCache.Entry) {
        let fixture = try DiskFixture()
        try fixture.cache.write(pattern(20_000), for: "a", metadata: metadata(date: "first"))
        return (fixture, try #require(try fixture.cache.read("a")))
    }

    @Test("C20 after a 304 the metadata are new, and the body was neither read nor written")
    func bodyStays() throws {
        let (fixture, entry) = try fixture()
        let before = try FileSystem().status(of: fixture.cache.path(for: "a"))
        fixture.time.advance(by: .seconds(6 * 86_400))
        fixture.plan.resetCalls()
        #expect(try fixture.cache.replaceMetadata(of: entry, with: metadata(date: "second")))
        #expect(fixture.plan.count(of: .write) == 0)
        #expect(fixture.plan.count(of: .rename) == 0)
        let after = try FileSystem().status(of: fixture.cache.path(for: "a"))
        #expect(after.inode == before.inode)
        #expect((1..<400).contains(after.size - before.size))
        // The entry's week begins anew.
        fixture.time.advance(by: .seconds(6 * 86_400))
        let read = try #require(try fixture.cache.read("a"))
        #expect(read.bytes == pattern(20_000))
        #expect(read.metadata.headers == metadata(date: "second").headers)
        #expect(try fixture.cache.info(for: "a")?.size.bytes == 20_000)
        #expect(fixture.cache.usage == (try fixture.measuredUsage()))
        #expect(try fixture.secondCache().usage == (try fixture.measuredUsage()))
        #expect(try fixture.cache.removeExpired() == 0)
    }

    @Test("C20 an entry that another has replaced, or that is gone, keeps what it has")
    func keepsReplacedEntry() async throws {
        let (fixture, entry) = try fixture()
        try fixture.secondCache().write(pattern(500), for: "a", metadata: metadata(date: "other"))
        #expect(try fixture.cache.replaceMetadata(of: entry, with: metadata(date: "late")) == false)
        #expect(try fixture.cache.read("a")?.bytes == pattern(500))
        #expect(try fixture.cache.read("a")?.metadata.headers == metadata(date: "other").headers)
        try fixture.cache.remove("a")
        #expect(try await fixture.cache.refreshValue(entry, with: metadata(date: "late")) == false)
        #expect(try fixture.cache.read("a") == nil)
    }

    @Test("C20 a file that is as long as one may be is written anew, since no head fits behind it")
    func longest() throws {
        let (fixture, entry) = try fixture()
        let path = fixture.cache.path(for: "a"), files = FileSystem()
        var head = Array(try files.contents(of: path)[20_000...])
        let size = Int(UInt32.max)
        // The same head, for a body that fills the file up to it: holes.
        withUnsafeBytes(of: UInt64(size - head.count).littleEndian) { bytes in
            head.replaceSubrange((head.count - 56)..<(head.count - 48), with: bytes)
        }
        let checksum = head.dropLast(8).withUnsafeBytes { Checksum.value(of: $0) }
        withUnsafeBytes(of: checksum.littleEndian) { head.replaceSubrange((head.count - 8)..., with: $0) }
        let file = try files.open(path, flags: O_RDWR)
        try files.truncate(file, to: size - head.count)
        var failure: SystemError?
        head.withUnsafeBytes { bytes in
            do throws(SystemError) {
                try files.write(bytes, to: file, at: size - bytes.count)
            } catch { failure = error }
        }
        #expect(failure == nil)
        #expect(try files.status(of: path).size == size)
        #expect(try fixture.cache.replaceMetadata(of: entry, with: metadata(date: "second")))
        let read = try #require(try fixture.cache.read("a"))
        #expect(read.bytes == pattern(20_000))
        #expect(read.metadata.headers == metadata(date: "second").headers)
    }

    @Test("C20 a thousand refreshes keep the file small")
    func many() throws {
        let (fixture, _) = try fixture()
        for number in 0..<1_000 {
            let entry = try #require(try fixture.cache.read("a"))
            #expect(try fixture.cache.replaceMetadata(of: entry, with: metadata(date: "\(number)")))
        }
        #expect(try fixture.cache.read("a")?.bytes == pattern(20_000))
        #expect(try fixture.cache.read("a")?.metadata.headers == metadata(date: "999").headers)
        #expect(try FileSystem().status(of: fixture.cache.path(for: "a")).size < 40_000)
        #expect(fixture.cache.usage == (try fixture.measuredUsage()))
    }

    @Test("C18 C20 a head that was cut off anywhere leaves the one before, and the body")
    func cutOff() throws {
        let (fixture, entry) = try fixture()
        let path = fixture.cache.path(for: "a"), files = FileSystem()
        let old = try files.status(of: path).size
        #expect(try fixture.cache.replaceMetadata(of: entry, with: metadata(date: "second")))
        let whole = try files.contents(of: path)
        for size in old..<whole.count {
            try files.truncate(try files.open(path, flags: O_WRONLY), to: size)
            let cache = size % 2 == 0 ? fixture.cache : try fixture.secondCache()
            let read = try #require(try cache.read("a"), "\(size)")
            #expect(read.metadata.headers == metadata(date: "first").headers)
            #expect(read.bytes.count == 20_000)
            #expect(try files.status(of: path).size == old)
            let file = try files.open(path, flags: O_WRONLY)
            try whole.withUnsafeBytes { try files.write($0, to: file, at: 0) }
        }
        #expect(try fixture.cache.read("a")?.metadata.headers == metadata(date: "second").headers)
    }

    @Test("C18 C20 whichever call fails, the entry has its old metadata or the new", arguments: DiskFaultTests.calls)
    func faults(_ call: SystemCall) throws {
        for number in [ENOSPC, EIO, EACCES] {
            for position in 1..<4 {
                let (fixture, entry) = try fixture()
                fixture.plan.fail(call, with: number, at: position)
                let isDone = (try? fixture.cache.replaceMetadata(of: entry, with: metadata(date: "second"))) == true
                fixture.plan.removeAllRules()
                fixture.time.advance(by: .seconds(61))
                let read = try #require(try fixture.secondCache().read("a"))
                #expect(read.bytes == entry.bytes)
                if isDone { #expect(read.metadata.headers == metadata(date: "second").headers) }
                #expect(fixture.cache.usage == (try fixture.measuredUsage()))
            }
        }
    }
}
