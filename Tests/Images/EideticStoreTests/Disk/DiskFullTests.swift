import EideticCore
import EideticStore
import EideticTestSupport
import Glibc
import Testing

/// A small file system in memory, which is unmounted with the object.
final class SmallFileSystem: Sendable {
    let directory: TemporaryDirectory
    let path: String

    /// A Boolean value indicating whether this process may mount file systems.
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

    /// Writes a file that leaves only `free` bytes.
    func fill(leaving free: Int) throws {
        let file = try FileSystem().open("\(path)/filler", flags: O_WRONLY | O_CREAT)
        let size = try FileSystem().freeSpace(at: path).availableBytes - free
        let bytes = [UInt8](repeating: 1, count: 1 << 16)
        for _ in 0..<size >> 16 { try bytes.withUnsafeBytes { try FileSystem().write($0, to: file) } }
    }
}

@Suite(
    "Disk cache: full file systems",
    .enabled(if: SmallFileSystem.isPossible, "this process may not mount file systems")
)
struct DiskFullTests {
    /// The bytes written last for each key.
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

    /// Writes and reads until the file system was full many times, and returns the number of refused writes.
    private func stress(_ cache: DiskCache, keys: Int, writes: Int, sizes: Int = 30_000) throws -> Int {
        var refused = 0
        for number in 0..<writes {
            let key = "\(number % keys)", bytes = pattern(number * 7_919 % sizes, seed: number)
            do throws(EideticError) {
                try cache.blocking.insert(bytes, for: key)
                model.last[key] = bytes
            } catch {
                #expect(error.code == .diskFull)
                refused += 1
            }
            for key in [key, "\((number + 1) % keys)"] {
                guard let found = try cache.blocking.read(key)?.bytes else { continue }
                let isRight = found == model.last[key]
                #expect(isRight, "\(key): \(found.count) bytes")
            }
        }
        #expect(try cache.scan.verify().damaged.isEmpty)
        return refused
    }

    private func entryCount(in directory: String) throws -> Int {
        let files = FileSystem()
        return try files.entryNames(in: directory).filter { $0.utf8.count == 2 }
            .reduce(0) { try $0 + files.entryNames(in: "\(directory)/\($1)").count }
    }

    @Test(
        "C18 C10 on a full file system results are right, old entries are evicted, and no temporary files remain"
    )
    func withoutBytes() throws {
        let disk = try SmallFileSystem(options: "size=3m")
        let cache = try openCache(on: disk)
        _ = try stress(cache, keys: 400, writes: 300)
        #expect(cache.blocking.usage.entryCount > 20)
        #expect(cache.blocking.usage.allocatedSize.bytes < 3 << 20)
        #expect(try entryCount(in: cache.configuration.directory) == cache.blocking.usage.entryCount)
        // Another file uses the remaining space: entries are still served, and only evictions make room.
        try disk.fill(leaving: 0)
        let before = cache.blocking.usage
        _ = try stress(cache, keys: 400, writes: 60)
        #expect(cache.blocking.usage.allocatedSize <= before.allocatedSize + ByteCount(1 << 16))
        #expect(try entryCount(in: cache.configuration.directory) == cache.blocking.usage.entryCount)
        #expect(try self.openCache(on: disk).blocking.usage == cache.blocking.usage)
        try FileSystem().unlink("\(disk.path)/filler")
        try cache.blocking.insert(pattern(100_000), for: "after")
        #expect(try cache.blocking.read("after")?.bytes == pattern(100_000))
    }

    @Test("C18 C10 on a file system without inodes old entries are evicted, or the error is diskFull")
    func withoutInodes() throws {
        let disk = try SmallFileSystem(options: "size=64m,nr_inodes=600")
        let cache = try openCache(on: disk)
        let refused = try stress(cache, keys: 1_000, writes: 700, sizes: 2_000)
        #expect(refused == 0)
        #expect(cache.blocking.usage.entryCount > 100)
        #expect(try entryCount(in: cache.configuration.directory) == cache.blocking.usage.entryCount)
        // Other files use the remaining inodes.
        var number = 0
        while let file = try? FileSystem().open("\(disk.path)/other\(number)", flags: O_WRONLY | O_CREAT) {
            _ = consume file
            number += 1
        }
        _ = try stress(cache, keys: 1_000, writes: 40, sizes: 2_000)
        #expect(try entryCount(in: cache.configuration.directory) == cache.blocking.usage.entryCount)
        for other in 0..<number { try FileSystem().unlink("\(disk.path)/other\(other)") }
        try cache.blocking.insert([1], for: "after")
        #expect(try cache.blocking.read("after")?.bytes == [1])
    }

    @Test("C18 without room for the directory itself, opening throws diskFull")
    func opening() throws {
        let disk = try SmallFileSystem(options: "size=1m,nr_inodes=1")
        #expect(errorCode { _ = try openCache(on: disk) } == .diskFull)
    }
}
