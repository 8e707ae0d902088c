import EideticCore
import EideticTransfer
import Glibc

/// The body of a response as it arrives: in memory while it is small, then in the part file.
///
/// It is used on the engine's thread only.
final class BodySink {
    /// A part file, shared with the thread that synchronises it.
    final class File: Sendable {
        let descriptor: FileDescriptor
        init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
    }

    /// The number of bytes of the body, with those of earlier attempts.
    private(set) var length: Int
    /// The bytes that are not in the file; empty if there is one.
    private(set) var buffer: [UInt8] = []
    private(set) var file: File?
    let path: String
    private let fileSystem: FileSystem
    /// A function that is called before the first byte is written to the file.
    private let willWrite: () throws(SystemError) -> Void

    /// Creates a sink for a new body.
    init(path: String, fileSystem: FileSystem, willWrite: @escaping () throws(SystemError) -> Void) {
        self.path = path
        self.fileSystem = fileSystem
        self.willWrite = willWrite
        length = 0
    }

    /// Creates a sink that appends to a part file.
    init(appendingTo path: String, fileSystem: FileSystem) throws(SystemError) {
        self.path = path
        self.fileSystem = fileSystem
        willWrite = { () throws(SystemError) in }
        let descriptor = try fileSystem.open(path, flags: O_WRONLY)
        length = try fileSystem.size(of: descriptor)
        file = File(descriptor)
    }

    /// Appends bytes.
    func append(_ chunk: UnsafeRawBufferPointer) throws(SystemError) {
        if file == nil, buffer.count + chunk.count <= EndedTransfer.bodyLimit {
            buffer.append(contentsOf: chunk)
        } else {
            try moveToFile()
            if let file { try fileSystem.write(chunk, to: file.descriptor, at: length) }
        }
        length += chunk.count
    }

    /// Writes the bytes in memory to the part file.
    func moveToFile() throws(SystemError) {
        guard file == nil else { return }
        // An earlier part loses its bytes before the journal describes others.
        let descriptor = try fileSystem.open(path, flags: O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600)
        try willWrite()
        try fileSystem.write(buffer, to: descriptor, at: 0)
        file = File(descriptor)
        buffer = []
    }

    /// Returns the first bytes; `file` is the part file, opened for reading.
    func start(readingFrom file: File?) throws(SystemError) -> [UInt8] {
        guard let file else { return Array(buffer.prefix(4)) }
        let start = UnsafeMutableRawBufferPointer.allocate(byteCount: 4, alignment: 1)
        defer { start.deallocate() }
        return try Array(start[..<fileSystem.read(file.descriptor, at: 0, into: start)])
    }
}
