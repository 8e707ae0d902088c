package import EideticCore
import Glibc
package import EideticLifecycle
import Synchronization

/// The supervisor's side of the shared page, accessed by system calls.
///
/// The application can change and truncate the file, so it is never mapped here: reading a truncated mapping would end
/// the supervisor. A word that cannot be read is `nil`. Blocks for the time of a copy.
package final class SharedPageFile: Sendable {
    private let file: FileDescriptor
    private let files: FileSystem

    private init(file: consuming FileDescriptor, files: FileSystem) {
        self.files = files
        self.file = file
    }

    /// Creates a page; the path must not exist.
    package static func create(
        at path: String,
        generation: UInt32,
        token: [UInt8],
        files: FileSystem = FileSystem()
    ) throws(SystemError) -> SharedPageFile {
        let file = try files.open(path, flags: O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
        try files.truncate(file, to: PageLayout.size)
        let page = SharedPageFile(file: file, files: files)
        try page.write(token)
        try page.write(.max, to: .deadline)
        try page.write(UInt64(generation), to: .generation)
        try page.write(PageLayout.magic, to: .magic)
        return page
    }

    /// Opens the page of an earlier supervisor; throws `EINVAL` if the file is none.
    package static func open(at path: String, files: FileSystem = FileSystem()) throws(SystemError) -> SharedPageFile {
        let page = SharedPageFile(file: try files.open(path, flags: O_RDWR | O_NOFOLLOW), files: files)
        guard page[.magic] == PageLayout.magic else {
            throw SystemError(.pread, errorNumber: EINVAL, path: path)
        }
        return page
    }

    /// The number of the descriptor, to be passed to the application.
    package var descriptor: Int32 { file.rawValue }

    /// The number of open tasks, as the application states it; `nil` if it has destroyed the page.
    ///
    /// Exact while the application is frozen. A running one may change it while it is read, so two readings must agree.
    package var openTasks: UInt64? {
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        // A page that was truncated grows again, with zeros, when the supervisor writes into it.
        guard self[.magic] == PageLayout.magic else { return nil }
        var last = self[.openTasks]
        for _ in 0..<100 {
            let next = self[.openTasks]
            if next == last { return next }
            last = next
        }
        return last.map { max(1, $0) }
    }

    /// Asks the application for a report when no task is open; it has happened already if the count is 0 afterwards.
    package func requestIdleReport() throws(SystemError) {
        try write(1, to: .idleRequest)
        atomicMemoryFence(ordering: .sequentiallyConsistent)
    }

    /// Sets the phase and the end of background time, which the application sees at once.
    package func setPhase(_ phase: TaskPhase, deadline: Duration?) throws(SystemError) {
        let nanoseconds = deadline.map { UInt64(clamping: max(.zero, $0).inNanoseconds) } ?? .max
        try write(nanoseconds, to: .deadline)
        try write(UInt64(phase.rawValue), to: .phase)
        atomicMemoryFence(ordering: .sequentiallyConsistent)
    }

    /// The values that an earlier supervisor wrote; the application may have changed them.
    package subscript(word: PageLayout.Word) -> UInt64? {
        var value: UInt64 = 0
        let count = try? withUnsafeMutableBytes(of: &value) { buffer throws(SystemError) in
            try files.read(file, at: word.rawValue, into: buffer)
        }
        return count == 8 ? UInt64(littleEndian: value) : nil
    }

    package func write(_ value: UInt64, to word: PageLayout.Word) throws(SystemError) {
        try files.write(withUnsafeBytes(of: value.littleEndian) { Array($0) }, to: file, at: word.rawValue)
    }

    /// Writes a token, of which 16 bytes count.
    package func write(_ token: [UInt8]) throws(SystemError) {
        func word(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        try write(word(token.prefix(8)), to: .token)
        try write(word(token.dropFirst(8).prefix(8)), to: .tokenEnd)
    }
}
