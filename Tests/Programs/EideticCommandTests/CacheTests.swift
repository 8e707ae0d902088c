import EideticCore
import EideticStore
import EideticTestSupport
import Glibc
import Testing

@Suite("eidetic cache", .timeLimit(.minutes(1)))
struct CacheTests {
    private struct Info: Decodable {
        let directory: String
        let entries: Int
        let bytes: Int
        let allocated: Int
    }

    private struct Entry: Decodable {
        let key: String
        let file: String
        let bytes: Int
        let stored: String
        let expired: Bool
        let part: Bool
    }

    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory(named: "cache") }

    private func runCache(
        _ words: String...,
        input: [UInt8] = [],
        name: String = "cache"
    ) async throws -> Subprocess.Result {
        let location = ["--cache-dir", directory.path(of: name)]
        return try await Subprocess.run(EideticProgram.path, arguments: ["cache"] + words + location, input: input)
    }

    @Test("L16 the beginning of a download that was interrupted is listed as such")
    func parts() async throws {
        _ = try await storeImage(for: "http://a/b.png")
        let key = EntryKey.part(of: "http://a/c.png")
        #expect(EntryKey.isPart(EntryKey.part(of: "a\r")))
        let cache = try DiskCache(DiskCache.Configuration(directory: directory.path(of: "cache")))
        try await cache.insert([1, 2, 3], for: key)
        let list: [Entry] = try await runCache("list", "--json").lines()
        #expect(list.map(\.part) == [false, true])
        let lines = try await runCache("list").outputText.split(separator: "\n")
        #expect(lines.map { $0.contains("http://a/c.png") && $0.contains("interrupted") } == [false, true])
    }

    private func storeImage(for key: String) async throws -> [UInt8] {
        let bytes = try TestImages.encoded(as: .png)
        let result = try await runCache("put", key, "-", input: bytes)
        try #require(result.status == .exited(0), "\(result.errorText)")
        return bytes
    }

    @Test("C04 C05 --bundle searches a directory of SDWebImage after the cache, and never changes it")
    func bundle() async throws {
        let bytes = try TestImages.encoded(as: .png), key = "http://example.org/a.png"
        let old = ImageBundle.sdWebImage(in: directory.path), path = try #require(old.paths(for: key).first)
        try FileSystem().makeDirectories(old.directory)
        try directory.write(bytes, to: String(path.dropFirst(directory.path.count + 1)))
        #expect(try await runCache("get", key).status == .exited(1))
        #expect(try await runCache("get", key, "--bundle", old.directory).output == bytes)
        let empty = directory.path(of: "none")
        #expect(try await runCache("get", key, "--bundle", empty, "--bundle", old.directory).output == bytes)
        let words = ["load", "--offline", "--json", "--cache-dir", directory.path(of: "cache")]
        let load = try await Subprocess.run(EideticProgram.path, arguments: words + ["--bundle", old.directory, key])
        #expect(try load.lines(LoadLine.self).map(\.source) == ["disk"])
        #expect(try FileSystem().entryNames(in: old.directory).count == 1)
        #expect(try directory.contents(of: String(path.dropFirst(directory.path.count + 1))) == bytes)
    }

    @Test("C08 C18 a key that is no URL is listed as it is given back, and one of a URL without its password")
    func keysOfPrograms() async throws {
        let keys = ["chart:1@home", "provider:avatar@2x", "provider:banner@2x"]
        for key in keys + ["http://bob:SECRET@a/b.png"] { _ = try await storeImage(for: key) }
        let list: [Entry] = try await runCache("list", "--json").lines()
        #expect(Set(list.map(\.key)) == Set(keys + ["http://bob:…@a/b.png"]))
        let text = try await runCache("list").outputText
        for key in keys {
            #expect(text.contains(key))
            #expect(try await runCache("remove", key).status == .exited(0))
        }
    }

    @Test("C08 a stored entry is listed, returned and removed")
    func roundTrip() async throws {
        let bytes = try await storeImage(for: "http://a/é.png")
        let list: [Entry] = try await runCache("list", "--json").lines()
        #expect(list.map(\.key) == ["http://a/é.png"])
        #expect(list.map(\.bytes) == [bytes.count])
        #expect(list.first?.expired == false)
        #expect(list.first?.stored.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/) != nil)
        // The time, the size in nine columns, and the key.
        let key = "  http://a/é.png", lines = try await runCache("list").outputText.split(separator: "\n")
        let head = try #require(lines.first { $0.hasSuffix(key) }).dropLast(key.count)
        #expect(head.dropLast(9).hasSuffix("  ") && !head.dropLast(11).hasSuffix(" "), "\(head)")
        #expect(try await runCache("get", "http://a/é.png").output == bytes)
        #expect(try await runCache("remove", "http://a/é.png").status == .exited(0))
        let missing = try await runCache("get", "http://a/é.png")
        #expect(missing.status == .exited(1))
        #expect(missing.errorText == "eidetic: http://a/é.png: not in the cache\n")
    }

    @Test(
        "C10 clean with a size removes the oldest entries until half of it remains, and without a size only expired ones"
    )
    func cleanBySize() async throws {
        var keys: [String] = []
        for name in 0..<8 {
            keys.append("http://host/\(name)")
            _ = try await storeImage(for: keys[name])
        }
        #expect(try await runCache("clean").outputText == "0 entries removed, 0 bytes freed\n")
        let info: [Info] = try await runCache("info", "--json").lines()
        let allocated = try #require(info.first).allocated
        #expect(
            try await runCache("clean", "--size", "\(allocated)").outputText == "0 entries removed, 0 bytes freed\n"
        )
        let swept = try await runCache("clean", "--size", "\(allocated - 1)")
        #expect(swept.outputText.hasPrefix("5 entries removed, "))
        let left: [Entry] = try await runCache("list", "--json").lines()
        #expect(left.map(\.key) == Array(keys.suffix(3)))
        #expect(try await runCache("clean", "--size", "much").status == .exited(2))
    }

    @Test("C12 info shows the size and the number of entries")
    func info() async throws {
        for name in ["a", "b"] { _ = try await storeImage(for: "http://host/\(name)") }
        let info: Info = try await runCache("info", "--json").value()
        #expect(info.entries == 2)
        #expect(info.bytes > 0 && info.allocated > 0)
        #expect(info.directory == directory.path(of: "cache"))
        let text = try await runCache("info").outputText
        #expect(text.contains("2 entries, ") && text.contains(" KB"))
    }

    @Test(
        "C03 the directory is that of the service, of XDG or of the home directory, never below / or the working directory",
        arguments: [
            (["CACHE_DIRECTORY": "/var/cache/a:/var/cache/b"], "/var/cache/a/eidetic/default"),
            (["CACHE_DIRECTORY": "relative"], "/x/eidetic/default"), (["CACHE_DIRECTORY": "/"], "/x/eidetic/default"),
            (["XDG_CACHE_HOME": "relative"], "/h/.cache/eidetic/default"),
            (["XDG_CACHE_HOME": ""], "/h/.cache/eidetic/default"),
            (["XDG_CACHE_HOME": "//", "HOME": "/"], "/var/tmp/eidetic-\(getuid())/eidetic/default"),
            (["XDG_CACHE_HOME": nil, "HOME": nil], "/var/tmp/eidetic-\(getuid())/eidetic/default"),
        ] as [([String: String?], String)]
    )
    func directories(_ changes: [String: String?], expected: String) async throws {
        var environment: [String: String?] = ["CACHE_DIRECTORY": nil, "XDG_CACHE_HOME": "/x", "HOME": "/h"]
        environment.merge(changes) { $1 }
        let result = try await EideticProgram.run("cache", "info", "--json", environment: environment)
        #expect(try result.value(Info.self).directory == expected)
        #expect(access("/h", F_OK) == -1 && access("/x", F_OK) == -1)
    }

    @Test("C08 clear removes all entries")
    func clear() async throws {
        _ = try await storeImage(for: "http://host/a")
        let result = try await runCache("clear")
        #expect(result.outputText.hasPrefix("1 entry removed, "))
        #expect(try await runCache("info", "--json").value(Info.self).entries == 0)
    }

    @Test("C18 verify finds damage and changes nothing")
    func verify() async throws {
        _ = try await storeImage(for: "http://host/a")
        _ = try await storeImage(for: "http://host/b")
        #expect(try await runCache("verify").outputText == "2 checked, 0 damaged\n")
        let entry = try #require(try await runCache("list", "--json").lines(Entry.self).first)
        let file = try FileSystem().open(entry.file, flags: O_RDWR)
        try withUnsafeBytes(of: UInt64(0)) { try FileSystem().write($0, to: file, at: 40) }
        let result = try await runCache("verify")
        #expect(result.status == .exited(1))
        #expect(result.outputText == "2 checked, 1 damaged\n")
        #expect(result.errorText.contains(entry.file))
        #expect(try FileSystem().status(of: entry.file).size > 0)
    }

    @Test("a file that is not an image is not stored")
    func refusesNonImages() async throws {
        let result = try await runCache("put", "http://host/a", "-", input: Array("text".utf8))
        #expect(result.status == .exited(1))
        #expect(try await runCache("list").output.isEmpty)
    }

    @Test("a file at the path of the cache directory is reported")
    func directoryIsFile() async throws {
        try directory.write([], to: "cache")
        let result = try await runCache("info")
        #expect(result.status == .exited(1))
        #expect(result.errorText.contains(directory.path(of: "cache")))
    }
}
