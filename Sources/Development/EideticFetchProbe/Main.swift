import EideticCore
import EideticFetch
import Glibc

/// A program that loads the URLs of its standard input, with a "URL FILE" on each line.
///
/// The process contains a downloader and nothing else, so its time, work and memory can be compared with curl's.
///
///     EideticFetchProbe save|fetch PARALLEL [CA-FILE] < LIST
///
/// With `save` the downloader writes the files; with `fetch` the program writes the bodies from memory.
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
        // As many connections to the one server as the clients that it is compared with.
        configuration.maximumPerHost = maximumConcurrent
        configuration.certificateAuthorityFile = arguments.dropFirst(2).first
        let downloader = Downloader(configuration)
        // Twice as many tasks as slots, so that a download is always waiting for a slot.
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

    /// The requests that remain.
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
