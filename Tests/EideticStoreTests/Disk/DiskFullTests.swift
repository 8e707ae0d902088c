import EideticCore
import EideticStore
import EideticTestSupport
import Glibc
import Testing

/// A file system in memory that is as small as a test wants it; gone with the object.
final class SmallFileSystem: Sendable {
    let directory: TemporaryDirectory
    let path: String

    /// Whether this process may mount one.
    static let isPossible: Bool = {
        guard let directory = try? TemporaryDirectory(named: "mount") else { return false }
        guard mount("tmpfs", directory.path, "tmpfs", 0, "size=1m") == 0 else { return false }
        return umount2(directory.path, Int32(MNT_DETACH)) == 0
    }()

    init(options: String) throws {
        directory = try TemporaryDirectory(named: "small")
        path = directory.path(of: "disk")
        try FileSystem().makeDirectory(path)
        guard mount("tmpfs", path, "tmpfs", 0, options) == 0 else {
            throw EideticError(.fileFailure, message: "mount: \(SystemError.message(for: errno))")
        }
    }

    deinit { umount2(path, Int32(MNT_DETACH)) }

    /// Takes room until `free` bytes are left.
    func fill(leaving free: Int) throws {
        let file = try FileSystem().open("\(path)/filler", flags: O_WRONLY | O_CREAT)
        let room = try FileSystem().freeSpace(at: path).availableBytes - free
        let bytes = [UInt8](repeating: 1, count: 1 << 16)
        for _ in 0..<room >> 16 { try bytes.withUnsafeBytes { try FileSystem().write($0, to: file) } }
    }
}

@Suite("Disk cache: full file systems", .enabled(if: SmallFileSystem.isPossible, "this process may mount nothing"))
struct DiskFullTests {
    /// What was written last under each key.
    private final class Model {
        var last: [String: [UInt8]] = [:]
    }

    private let model = Model()

    private func openCache(on disk: SmallFileSystem) throws -> DiskCache {
        var configuration = DiskCache.Configuration(directory: "\(disk.path)/cache")
        configuration.sizeLimit = .mebibytes(64)
        configuration.minimumFreeSpace = .zero
        return try DiskCache(configuration)
    }

    /// Writes and reads until the file system has been full many times; gives how many writes were refused.
    private func stress(_ cache: DiskCache, keys: Int, writes: Int) throws -> Int {
        var refused = 0
        for number in 0..<writes {
            let key = "\(number % keys)", bytes = pattern(number * 7_919 % 30_000, seed: number)
            do throws(EideticError) {
                try cache.write(bytes, for: key)
                model.last[key] = bytes
            } catch {
                #expect(error.code == .diskFull)
                refused += 1
            }
            for key in [key, "\((number + 1) % keys)"] {
                guard let found = try cache.read(key)?.bytes else { continue }
                let isRight = found == model.last[key]
                #expect(isRight, "\(key): \(found.count) bytes")
            }
        }
        #expect(try cache.verify().damaged.isEmpty)
        return refused
    }

    private func entryCount(in directory: String) throws -> Int {
        let files = FileSystem()
        return try files.entryNames(in: directory).filter { $0.utf8.count == 2 }
            .reduce(0) { try $0 + files.entryNames(in: "\(directory)/\($1)").count }
    }

    @Test(
        "C18 C10 on a file system that is really full, answers are right, old entries give way, and nothing is left over"
    )
    func withoutBytes() throws {
        let disk = try SmallFileSystem(options: "size=3m")
        let cache = try openCache(on: disk)
        _ = try stress(cache, keys: 400, writes: 600)
        #expect(cache.usage.entryCount > 20)
        #expect(cache.usage.allocatedSize.bytes < 3 << 20)
        #expect(try entryCount(in: cache.configuration.directory) == cache.usage.entryCount)
        // Others take all that is left: what is there is served, and room comes from old entries alone.
        try disk.fill(leaving: 0)
        let before = cache.usage
        _ = try stress(cache, keys: 400, writes: 200)
        #expect(cache.usage.allocatedSize <= before.allocatedSize + ByteCount(1 << 16))
        #expect(try entryCount(in: cache.configuration.directory) == cache.usage.entryCount)
        #expect(try self.openCache(on: disk).usage == cache.usage)
        try FileSystem().unlink("\(disk.path)/filler")
        try cache.write(pattern(100_000), for: "after")
        #expect(try cache.read("after")?.bytes == pattern(100_000))
    }

    @Test("C18 C10 on a file system without inodes old entries give way, or the error says so")
    func withoutInodes() throws {
        let disk = try SmallFileSystem(options: "size=64m,nr_inodes=600")
        let cache = try openCache(on: disk)
        let refused = try stress(cache, keys: 1_000, writes: 900)
        #expect(refused == 0)
        #expect(cache.usage.entryCount > 100)
        #expect(try FileSystem().freeSpace(at: disk.path).availableInodes >= 0)
        #expect(try entryCount(in: cache.configuration.directory) == cache.usage.entryCount)
        // Others take the rest.
        var number = 0
        while let file = try? FileSystem().open("\(disk.path)/other\(number)", flags: O_WRONLY | O_CREAT) {
            _ = consume file
            number += 1
        }
        _ = try stress(cache, keys: 1_000, writes: 100)
        #expect(try entryCount(in: cache.configuration.directory) == cache.usage.entryCount)
        for other in 0..<number { try FileSystem().unlink("\(disk.path)/other\(other)") }
        try cache.write([1], for: "after")
        #expect(try cache.read("after")?.bytes == [1])
    }

    @Test("C18 where there is no room for the directory itself, opening says so")
    func opening() throws {
        let disk = try SmallFileSystem(options: "size=1m,nr_inodes=1")
        #expect(errorCode { _ = try openCache(on: disk) } == .diskFull)
    }
}
