import EideticCore
import EideticFetch
import Glibc

/// Loads what its input names, a "URL FILE" on each line.
///
/// A process in which there is a downloader and nothing else: its time, work and memory can be compared with curl's.
///
///     EideticFetchProbe save|fetch PARALLEL [CA-FILE] < LIST
///
/// `save` lets the downloader write the files; `fetch` takes the bodies into memory and writes them itself.
@main
struct Main {
    static func main() async {
        do {
            try await load()
        } catch {
            let line = Array("EideticFetchProbe: \(error)\n".utf8)
            _ = Glibc.write(2, line, line.count)
            exit(1)
        }
    }

    private static func load() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let mode = arguments.first, let maximumConcurrent = arguments.dropFirst().first.flatMap({ Int($0) })
        else {
            throw EideticError(
                .invalidArgument,
                message: "usage: EideticFetchProbe save|fetch PARALLEL [CA-FILE] < LIST"
            )
        }
        var configuration = Downloader.Configuration()
        configuration.maximumConcurrent = maximumConcurrent
        configuration.certificateAuthorityFile = arguments.dropFirst(2).first
        let downloader = Downloader(configuration)
        // Twice as many tasks as downloads run at once: there is always one that waits for its turn.
        try await withThrowingTaskGroup(of: Void.self) { group in
            let list = RequestList()
            for _ in 0..<2 * maximumConcurrent {
                group.addTask {
                    while let (request, path) = try list.next() {
                        if mode == "save" {
                            try await downloader.save(request, to: path)
                        } else {
                            try write(try await downloader.fetch(request).bytes, to: path)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// What is still to be loaded.
    private final class RequestList: Sendable {
        private let lock = Guarded(())

        func next() throws(EideticError) -> (request: FetchRequest, path: String)? {
            guard let line = lock.withLock({ _ in readLine() }) else { return nil }
            guard let space = line.utf8.firstIndex(of: UInt8(ascii: " ")) else {
                throw EideticError(.invalidArgument, message: "\(line): a line is \"URL FILE\"")
            }
            return (try FetchRequest(url: String(line[..<space])), String(line[line.utf8.index(after: space)...]))
        }
    }

    private static func write(_ bytes: [UInt8], to path: String) throws(SystemError) {
        let files = FileSystem()
        let file = try files.open(path, flags: O_WRONLY | O_CREAT | O_TRUNC)
        try bytes.withUnsafeBufferPointer { bytes throws(SystemError) in
            try files.write(UnsafeRawBufferPointer(bytes), to: file)
        }
    }
}
