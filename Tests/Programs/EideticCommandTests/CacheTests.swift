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

    @Test("C08 a stored entry is listed, returned and removed")
    func roundTrip() async throws {
        let bytes = try await storeImage(for: "http://a/é.png")
        let list: [Entry] = try await runCache("list", "--json").lines()
        #expect(list.map(\.key) == ["http://a/é.png"])
        #expect(list.map(\.bytes) == [bytes.count])
        #expect(list.first?.expired == false)
        #expect(list.first?.stored.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/) != nil)
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

    @Test("an archive contains image files that tar extracts, and its import creates the same entries")
    func archive() async throws {
        let bytes = try await storeImage(for: "http://host/a.png")
        _ = try await storeImage(for: "http://other/a.jpg?size=2")
        #expect(try await runCache("export", directory.path(of: "all.tar")).outputText == "2 entries exported\n")
        let members = try await Subprocess.run("tar", arguments: ["-tf", directory.path(of: "all.tar")])
        #expect(members.status == .exited(0))
        #expect(members.errorText == "", "tar warns of nothing")
        #expect(try directory.contents(of: "all.tar")[257..<265].elementsEqual("ustar\u{0}00".utf8))
        // The time, the size in nine columns, and the key.
        let key = "  http://host/a.png", lines = try await runCache("list").outputText.split(separator: "\n")
        let head = try #require(lines.first { $0.hasSuffix(key) }).dropLast(key.count)
        #expect(head.dropLast(9).hasSuffix("  ") && !head.dropLast(11).hasSuffix(" "), "\(head)")
        #expect(members.outputText == "a.png\na-2.png\n")
        let words = ["-xf", directory.path(of: "all.tar"), "-C", directory.path]
        #expect(try await Subprocess.run("tar", arguments: words).errorText == "")
        #expect(try directory.contents(of: "a.png") == bytes)
        let result = try await runCache("import", directory.path(of: "all.tar"), name: "second")
        #expect(result.outputText == "2 entries imported\n")
        let before = try await runCache("list", "--json").lines(Entry.self)
        let after = try await runCache("list", "--json", name: "second").lines(Entry.self)
        #expect(before.map(\.key) == after.map(\.key))
        #expect(before.map(\.stored) == after.map(\.stored))
        #expect(try await runCache("get", "http://host/a.png", name: "second").output == bytes)
    }

    @Test("C23 an archive contains no images that are made again, and its import skips those of another program")
    func derivedEntries() async throws {
        let bytes = try await storeImage(for: "http://host/a.png"), path = directory.path(of: "all.tar")
        let cache = try DiskCache(DiskCache.Configuration(directory: directory.path(of: "cache")))
        var metadata = DiskCache.Metadata()
        metadata.kind = .derived
        try cache.blocking.insert(Array("EIDRAW".utf8), for: "http://host/a.png\n8x8 fit", metadata: metadata)
        #expect(try await runCache("export", path).outputText == "1 entry exported\n")
        let checksum = Array("EIDRAW".utf8).withUnsafeBytes { String(Checksum.value(of: $0), radix: 16) }
        let python = """
            import tarfile, io
            t = tarfile.open('\(path)', 'a', format=tarfile.PAX_FORMAT)
            i = tarfile.TarInfo('b'); i.size = 6
            i.pax_headers = {'EIDETIC.key': 'http://host/b.png', 'EIDETIC.kind': '\(metadata.kind.rawValue)',
                'EIDETIC.checksum': '\(checksum)'}
            t.addfile(i, io.BytesIO(b'EIDRAW')); t.close()
            """
        let appended = try await Subprocess.run("python3", arguments: ["-c", python])
        #expect(appended.status == .exited(0), "\(appended.errorText)")
        #expect(try await runCache("import", path, name: "second").outputText == "1 entry imported\n")
        #expect(try await runCache("remove", "http://host/b.png").status == .exited(0))
        #expect(try await runCache("remove", "http://host/b.png").status == .exited(1))
    }

    @Test("C18 an archive can be read by its owner only, and contains private entries only on request")
    func privateEntries() async throws {
        _ = try await storeImage(for: "http://host/a.png")
        // A key as that of a request with credentials.
        _ = try await storeImage(for: "http://host/b.png\nsecret:" + String(repeating: "ab", count: 32))
        let path = directory.path(of: "all.tar")
        let result = try await runCache("export", path)
        #expect(result.outputText == "1 entry exported, 1 private entry left out\n")
        #expect(try FileSystem().status(of: path).permissions == 0o600)
        let bytes = try FileSystem().contents(of: path)
        #expect(!String(decoding: bytes, as: UTF8.self).contains("b.png"))
        let all = try await runCache("export", path, "--with-private")
        #expect(all.outputText == "2 entries exported\n")
        #expect(!String(decoding: try FileSystem().contents(of: path), as: UTF8.self).contains("abababab"))
    }

    @Test("C18 a member of an archive that is not an image is refused", arguments: ["<html></html>", "\u{89}PNG"])
    func importsImagesOnly(_ text: String) async throws {
        let archive = try await makeArchive(of: Array(text.utf8))
        let result = try await runCache("import", "-", input: archive)
        #expect(result.status == .exited(1))
        #expect(result.errorText.contains("http://host/a.png: "))
        #expect(try await runCache("list").output.isEmpty)
    }

    @Test("C18 an imported entry expires and is evicted as a downloaded one")
    func importsAsDownload() async throws {
        let (year2262, now) = (Int64.max, SystemTime().now)
        let records = ["stored": "\(year2262)", "expires": "\(year2262)", "importance": "2"]
        let archive = try await makeArchive(of: try TestImages.encoded(as: .png), records: records)
        #expect(try await runCache("import", "-", input: archive).outputText == "1 entry imported\n")
        let cache = try DiskCache(DiskCache.Configuration(directory: directory.path(of: "cache")))
        let metadata = try #require(try cache.blocking.read("http://host/a.png")).metadata
        #expect(metadata.importance == .viewed)
        #expect(metadata.storageTime >= now && metadata.storageTime <= SystemTime().now)
        #expect(metadata.expirationTime == metadata.storageTime + cache.configuration.maximumAge)
        let old = ["stored": "1000000000", "expires": "2000000000"]
        let second = try await makeArchive(of: try TestImages.encoded(as: .png), records: old)
        #expect(try await runCache("import", "-", input: second).outputText == "1 entry imported\n")
        let entry = try cache.blocking.read("http://host/a.png", allowingExpired: true)
        #expect(entry?.metadata.expirationTime == Timestamp(seconds: 2))
        let undated = try await makeArchive(of: try TestImages.encoded(as: .png), records: ["expires": "\(year2262)"])
        #expect(try await runCache("import", "-", input: undated).outputText == "1 entry imported\n")
        let expirationTime = try cache.blocking.read("http://host/a.png")?.metadata.expirationTime
        #expect(expirationTime.map { $0 > now && $0 < SystemTime().now + cache.configuration.maximumAge } == true)
    }

    /// Returns an archive of one entry for `http://host/a.png`, as somebody else could write it.
    private func makeArchive(of bytes: [UInt8], records: [String: String] = [:]) async throws -> [UInt8] {
        try directory.write(bytes, to: "member")
        let checksum = bytes.withUnsafeBytes { Checksum.value(of: $0) }
        let all = records.merging(["key": "http://host/a.png", "checksum": String(checksum, radix: 16)]) { $1 }
        let option = "--pax-option=" + all.map { "EIDETIC.\($0.key):=\($0.value)" }.joined(separator: ",")
        let arguments = ["--format=posix", option, "-C", directory.path, "-cf", "-", "member"]
        return try await Subprocess.run("tar", arguments: arguments).output
    }

    @Test("a damaged archive is refused at the damaged member")
    func damagedArchive() async throws {
        _ = try await storeImage(for: "http://host/a.png")
        let archive = try await runCache("export", "-").output
        let truncated = try await runCache("import", "-", input: Array(archive.prefix(1_500)), name: "second")
        #expect(truncated.status == .exited(1))
        #expect(truncated.errorText == "eidetic: -: the archive is truncated, after 0 entries\n")
        var changed = archive
        changed[1_600] ^= 1
        let damaged = try await runCache("import", "-", input: changed, name: "second")
        #expect(damaged.status == .exited(1))
        #expect(damaged.errorText.contains("do not match their checksum"))
        let notAnArchive = try await runCache("import", "-", input: Array(repeating: 7, count: 600), name: "second")
        #expect(notAnArchive.errorText.contains("not a tar archive, or a damaged header"))
    }

    @Test("a file at the path of the cache directory is reported")
    func directoryIsFile() async throws {
        try directory.write([], to: "cache")
        let result = try await runCache("info")
        #expect(result.status == .exited(1))
        #expect(result.errorText.contains(directory.path(of: "cache")))
    }
}
