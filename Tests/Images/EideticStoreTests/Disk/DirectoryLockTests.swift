import EideticCore
import EideticStore
import EideticTestSupport
import Glibc
import Testing

@Suite("The lock of a cache directory", .timeLimit(.minutes(2)))
struct DirectoryLockTests {
    /// Holds byte 0 of a cache's lock file, as another process does within a change.
    private func heldLock(of fixture: DiskFixture) throws -> FileDescriptor {
        let file = try FileSystem().open("\(fixture.cache.configuration.directory)/lock", flags: O_RDWR)
        try FileSystem().lockByte(at: 0, of: file)
        return file
    }

    /// Returns the number of waiters for a lock of the file that the kernel lists.
    private func waiterCount(_ file: borrowing FileDescriptor) throws -> Int {
        let inode = try FileSystem().status(of: file).inode
        let locks = String(decoding: try FileSystem().contents(of: "/proc/locks"), as: UTF8.self)
        return locks.split(separator: "\n").count { line in
            line.contains("-> OFDLCK") && line.hasSuffix(":\(inode) 0 0")
        }
    }

    @Test("B15 a change that waits for another process is known to the kernel, and is made when its turn comes")
    func visibleWaiter() async throws {
        let fixture = try DiskFixture()
        try fixture.cache.blocking.insert([1], for: "a")
        let file = try heldLock(of: fixture)
        let result = Monitor<Bool?>(nil)
        let cache = fixture.cache
        Thread.start(name: "insert") {
            let isInserted = (try? cache.blocking.insert([2], for: "b")) != nil
            result.withLock { $0 = isInserted }
            result.broadcast()
        }
        try await eventually("number of waiters", is: 1) { try waiterCount(file) }
        #expect(result.withLock { $0 } == nil)
        try FileSystem().unlockByte(at: 0, of: file)
        #expect(result.wait { $0 })
        #expect(try cache.blocking.read("b")?.bytes == [2])
        #expect(try waiterCount(file) == 0)
    }

    @Test("B15 a change fails when its time is over, and its wait keeps the lock from nobody later")
    func timeLimit() async throws {
        let fixture = try DiskFixture { $0.lockTimeLimit = .milliseconds(50) }
        try fixture.cache.blocking.insert([1], for: "a")
        let file = try heldLock(of: fixture)
        for _ in 1...2 {
            #expect(errorCode { try fixture.cache.blocking.insert([2], for: "b") } == .fileFailure)
            // One wait serves both.
            #expect(try waiterCount(file) == 1)
        }
        try FileSystem().unlockByte(at: 0, of: file)
        // The abandoned wait has the lock for a moment.
        try await eventually("number of waiters", is: 0) { try waiterCount(file) }
        try await eventually("the lock is free") { try !FileSystem().isByteLocked(at: 0, of: file) }
        try fixture.cache.blocking.insert([3], for: "b")
        #expect(try fixture.cache.blocking.read("b")?.bytes == [3])
        #expect(try !FileSystem().isByteLocked(at: 0, of: file))
    }
}
