import EideticCore
import EideticStore
import EideticHTTP
import EideticTestSupport
import Glibc
import Testing

@Suite("Disk cache: replacing metadata")
struct DiskMetadataReplacementTests {
    private func metadata(date: String) -> DiskCache.Metadata {
        DiskCache.Metadata(headers: [.init(name: "ETag", value: "\"1\""), .init(name: "Date", value: date)])
    }

    private func fixture() throws -> (DiskFixture, DiskCache.Entry) {
        let fixture = try DiskFixture()
        try fixture.cache.blocking.insert(pattern(20_000), for: "a", metadata: metadata(date: "first"))
        return (fixture, try #require(try fixture.cache.blocking.read("a")))
    }

    @Test("C20 replacing metadata neither reads nor writes the body")
    func bodyStays() throws {
        let (fixture, entry) = try fixture()
        let before = try FileSystem().status(of: fixture.cache.path(for: "a"))
        fixture.time.advance(by: .seconds(6 * 86_400))
        fixture.plan.resetCalls()
        #expect(try fixture.cache.writer.replaceMetadata(of: entry, with: metadata(date: "second")))
        #expect(fixture.plan.count(of: .write) == 0)
        #expect(fixture.plan.count(of: .rename) == 0)
        let after = try FileSystem().status(of: fixture.cache.path(for: "a"))
        #expect(after.inode == before.inode)
        #expect((1..<400).contains(after.size - before.size))
        // The entry has a full week again.
        fixture.time.advance(by: .seconds(6 * 86_400))
        let read = try #require(try fixture.cache.blocking.read("a"))
        #expect(read.bytes == pattern(20_000))
        #expect(read.metadata.headers == metadata(date: "second").headers)
        #expect(try fixture.cache.lookup.info(for: "a")?.size.bytes == 20_000)
        #expect(fixture.cache.blocking.usage == (try fixture.measuredUsage()))
        #expect(try fixture.secondCache().blocking.usage == (try fixture.measuredUsage()))
        #expect(try fixture.cache.blocking.removeExpired() == 0)
    }

    @Test("C20 the metadata of an entry that was replaced or removed meanwhile are not changed")
    func keepsReplacedEntry() async throws {
        let (fixture, entry) = try fixture()
        try fixture.secondCache().blocking.insert(pattern(500), for: "a", metadata: metadata(date: "other"))
        #expect(try fixture.cache.writer.replaceMetadata(of: entry, with: metadata(date: "late")) == false)
        #expect(try fixture.cache.blocking.read("a")?.bytes == pattern(500))
        #expect(try fixture.cache.blocking.read("a")?.metadata.headers == metadata(date: "other").headers)
        try fixture.cache.blocking.remove("a")
        #expect(try await fixture.cache.replaceMetadata(of: entry, with: metadata(date: "late")) == false)
        #expect(try fixture.cache.blocking.read("a") == nil)
    }

    @Test("C20 a file of the largest size is rewritten, since no second footer fits")
    func longest() throws {
        let (fixture, entry) = try fixture()
        let path = fixture.cache.path(for: "a"), files = FileSystem()
        var footer = Array(try files.contents(of: path)[20_000...])
        let size = Int(UInt32.max)
        // The same footer, for a sparse body that fills the file.
        withUnsafeBytes(of: UInt64(size - footer.count).littleEndian) { bytes in
            footer.replaceSubrange((footer.count - 56)..<(footer.count - 48), with: bytes)
        }
        let checksum = footer.dropLast(8).withUnsafeBytes { Checksum.value(of: $0) }
        withUnsafeBytes(of: checksum.littleEndian) { footer.replaceSubrange((footer.count - 8)..., with: $0) }
        let file = try files.open(path, flags: O_RDWR)
        try files.truncate(file, to: size - footer.count)
        var failure: SystemError?
        footer.withUnsafeBytes { bytes in
            do throws(SystemError) {
                try files.write(bytes, to: file, at: size - bytes.count)
            } catch { failure = error }
        }
        #expect(failure == nil)
        #expect(try files.status(of: path).size == size)
        #expect(try fixture.cache.writer.replaceMetadata(of: entry, with: metadata(date: "second")))
        let read = try #require(try fixture.cache.blocking.read("a"))
        #expect(read.bytes == pattern(20_000))
        #expect(read.metadata.headers == metadata(date: "second").headers)
    }

    @Test("C20 a thousand replacements keep the file small")
    func many() throws {
        let (fixture, _) = try fixture()
        for number in 0..<1_000 {
            let entry = try #require(try fixture.cache.blocking.read("a"))
            #expect(try fixture.cache.writer.replaceMetadata(of: entry, with: metadata(date: "\(number)")))
        }
        #expect(try fixture.cache.blocking.read("a")?.bytes == pattern(20_000))
        #expect(try fixture.cache.blocking.read("a")?.metadata.headers == metadata(date: "999").headers)
        #expect(try FileSystem().status(of: fixture.cache.path(for: "a")).size < 40_000)
        #expect(fixture.cache.blocking.usage == (try fixture.measuredUsage()))
    }

    @Test("C18 C20 wherever a footer is cut off, the previous one and the body stay valid")
    func cutOff() throws {
        let (fixture, entry) = try fixture()
        let path = fixture.cache.path(for: "a"), files = FileSystem()
        let old = try files.status(of: path).size
        #expect(try fixture.cache.writer.replaceMetadata(of: entry, with: metadata(date: "second")))
        let whole = try files.contents(of: path)
        for size in old..<whole.count {
            try files.truncate(try files.open(path, flags: O_WRONLY), to: size)
            let cache = size % 2 == 0 ? fixture.cache : try fixture.secondCache()
            let read = try #require(try cache.blocking.read("a"), "\(size)")
            #expect(read.metadata.headers == metadata(date: "first").headers)
            #expect(read.bytes.count == 20_000)
            #expect(try files.status(of: path).size == old)
            let file = try files.open(path, flags: O_WRONLY)
            try whole.withUnsafeBytes { try files.write($0, to: file, at: 0) }
        }
        #expect(try fixture.cache.blocking.read("a")?.metadata.headers == metadata(date: "second").headers)
    }

    @Test(
        "C18 C20 whichever system call fails, the entry has its old or its new metadata",
        arguments: DiskFaultTests.calls
    )
    func faults(_ call: SystemCall) throws {
        for number in Torture.isFull ? [ENOSPC, EIO, EACCES] : [EIO] {
            for position in 1..<4 {
                let (fixture, entry) = try fixture()
                fixture.plan.fail(call, with: number, at: position)
                let isDone =
                    (try? fixture.cache.writer.replaceMetadata(of: entry, with: metadata(date: "second"))) == true
                fixture.plan.removeAllRules()
                fixture.time.advance(by: .seconds(61))
                let read = try #require(try fixture.secondCache().blocking.read("a"))
                #expect(read.bytes == entry.bytes)
                if isDone { #expect(read.metadata.headers == metadata(date: "second").headers) }
                #expect(fixture.cache.blocking.usage == (try fixture.measuredUsage()))
            }
        }
    }
}
