import EideticCore
import EideticStore
import EideticHTTP
import EideticTestSupport
import Glibc
import Testing

@Suite("Disk cache: secrets")
struct DiskSecretTests {
    private static let secret = SecretKeyPart.text(for: "authorization: Basic hunter2")
    private let key = "https://bank/a.png" + secret

    /// Returns the names and contents of all files in a cache's directory.
    private func everything(in fixture: DiskFixture) throws -> String {
        func collect(_ path: String) throws -> String {
            let files = FileSystem()
            guard try files.linkStatus(of: path).kind == .directory else {
                return String(decoding: try files.contents(of: path), as: UTF8.self)
            }
            return try files.entryNames(in: path).map { try $0 + "\n" + collect("\(path)/\($0)") }.joined()
        }
        return try collect(fixture.cache.configuration.directory)
    }

    @Test("C18 neither a secret nor a digest that anybody could compute is written to the directory")
    func notWritten() throws {
        let fixture = try DiskFixture()
        try fixture.cache.blocking.insert([1], for: key)
        try fixture.cache.blocking.insert([2], for: "\(key)\nany certificate")
        let text = try everything(in: fixture)
        #expect(text.contains("https://bank/a.png\nhashed:"))
        #expect(text.contains("any certificate"))
        #expect(!text.contains("hunter2"))
        #expect(!text.contains(String(Self.secret.dropFirst("\nsecret:".count))))
        #expect(!text.contains(CacheKey(key).hexadecimal))
        #expect(try FileSystem().status(of: fixture.cache.configuration.directory + "/key").permissions == 0o600)
    }

    @Test("C18 an entry with a secret is found by other processes, described, changed and removed")
    func operations() throws {
        let fixture = try DiskFixture(), other = try fixture.secondCache()
        #expect(try other.blocking.read(key) == nil)
        try fixture.cache.blocking.insert([1], for: key)
        let entry = try #require(try other.blocking.read(key))
        #expect(entry.key == key)
        #expect(entry.bytes == [1])
        #expect(other.path(for: key) == fixture.cache.path(for: key))
        #expect(try other.blocking.contains(key))
        let info = try #require(try other.lookup.info(for: key))
        #expect(info.isPrivate)
        #expect(info.key != key && info.path == fixture.cache.path(for: key))
        #expect(try other.blocking.read(info.key)?.bytes == [1])
        #expect(try fixture.cache.blocking.entries().map(\.isPrivate) == [true])
        #expect(try fixture.cache.scan.verify().damaged.isEmpty)
        var metadata = entry.metadata
        metadata.headers = [.init(name: "ETag", value: "2")]
        #expect(try other.writer.replaceMetadata(of: entry, with: metadata))
        #expect(try fixture.cache.blocking.read(key)?.metadata.headers.first?.value == "2")
        #expect(try fixture.cache.blocking.read("https://bank/a.png\(SecretKeyPart.text(for: "other"))") == nil)
        #expect(try other.blocking.remove(key) != nil)
        #expect(try fixture.cache.blocking.read(key) == nil)
    }

    @Test("C18 equal secrets have different digests for other URLs and in other directories")
    func salted() throws {
        let fixture = try DiskFixture(), other = try DiskFixture()
        func digest(_ fixture: DiskFixture, _ url: String) throws -> String {
            try fixture.cache.blocking.insert([1], for: url + Self.secret)
            return String(try #require(try fixture.cache.lookup.info(for: url + Self.secret)).key.suffix(64))
        }
        let digests = [try digest(fixture, "a"), try digest(fixture, "b"), try digest(other, "a")]
        #expect(Set(digests).count == 3)
        #expect(try digest(fixture, "a") == digests[0])
    }

    @Test("C18 a key without the mark of a secret is stored as it is, however similar")
    func unmarked() throws {
        let fixture = try DiskFixture()
        let digits = String(repeating: "0", count: 64)
        for key in [
            "a\nsecret:" + digits.dropLast(), "a\nsecret:\(digits)0", "a secret:\(digits)", "a\nsecret:G" + digits,
        ] {
            try fixture.cache.blocking.insert([1], for: key)
            let info = try #require(try fixture.cache.lookup.info(for: key))
            #expect(info.key == key && !info.isPrivate)
        }
        #expect((try? FileSystem().status(of: fixture.cache.configuration.directory + "/key")) == nil)
        #expect(try fixture.cache.blocking.read(key) == nil)
        #expect((try? FileSystem().status(of: fixture.cache.configuration.directory + "/key")) == nil)
    }

    @Test("C18 without a directory key nothing with a secret is written")
    func fullDisk() throws {
        let fixture = try DiskFixture()
        fixture.plan.fail(.link, with: ENOSPC)
        #expect(errorCode { try fixture.cache.blocking.insert([1], for: key) } == .diskFull)
        #expect(fixture.cache.blocking.usage.entryCount == 0)
        try fixture.cache.blocking.insert([1], for: key)
        #expect(try fixture.cache.blocking.read(key)?.bytes == [1])
    }
}

@Suite("Disk cache: directories of others")
struct DiskTrustTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory(named: "trust") }

    private func openingError(_ path: String, isChecked: Bool = true) -> EideticError? {
        var configuration = DiskCache.Configuration(directory: directory.path(of: path))
        configuration.requiresPrivateDirectory = isChecked
        do {
            _ = try DiskCache(configuration)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "C03 C18 a directory that others may write to is not used, and nothing is made in it",
        arguments: ["a", "a/b"]
    )
    func writable(_ path: String) throws {
        try FileSystem().makeDirectory(directory.path(of: "a"))
        chmod(directory.path(of: "a"), 0o777)
        let error = openingError(path)
        #expect(error?.code == .cacheUnavailable)
        #expect(error?.message.contains("chmod go-w \(directory.path(of: "a"))") == true)
        #expect(try FileSystem().entryNames(in: directory.path(of: "a")) == [])
        #expect(openingError(path, isChecked: false) == nil)
    }

    @Test(
        "C03 C18 the directory of another user is not used",
        .enabled(if: geteuid() == 0, "needs root to change owners")
    )
    func foreign() throws {
        try FileSystem().makeDirectories(directory.path(of: "a/b"))
        chown(directory.path(of: "a"), 65_534, 65_534)
        let error = openingError("a/b")
        #expect(error?.code == .cacheUnavailable)
        #expect(error?.message.contains("belongs to user 65534, not to user 0") == true)
    }

    @Test("C18 a directory that another user could have made again is not written to")
    func recreated() throws {
        chmod(directory.path, 0o1777)
        let cache = try DiskCache(DiskCache.Configuration(directory: directory.path(of: "cache")))
        try cache.blocking.insert([1], for: "a")
        try removeTree(directory.path(of: "cache"))
        try FileSystem().makeDirectory(directory.path(of: "cache"))
        chmod(directory.path(of: "cache"), 0o777)
        #expect(errorCode { try cache.blocking.insert([2], for: "a") } == .cacheUnavailable)
    }
}
