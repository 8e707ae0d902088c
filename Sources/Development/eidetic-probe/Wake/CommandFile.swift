import EideticCore
import Glibc

/// The lines of a FIFO, each a command.
struct CommandFile: Sendable {
    let path: String

    init(_ path: String) { self.path = path }

    /// Calls `body` on the main actor with the words of each line, one after the other.
    func read(_ body: @escaping @MainActor @Sendable ([String]) async -> Void) {
        let path = path
        let (lines, continuation) = AsyncStream<String>.makeStream()
        Task { @MainActor in for await line in lines { await body(Self.words(of: line)) } }
        Thread.start(name: "commands") {
            // Writing too keeps the FIFO open between commands.
            guard let file = fdopen(Glibc.open(path, O_RDWR | O_CLOEXEC), "r") else { exit(2) }
            while let line = Self.line(of: file) { continuation.yield(line) }
        }
    }

    /// Opens the FIFO for a program that polls.
    func open() -> Int32 { Glibc.open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK) }

    static func words(of line: String) -> [String] { line.split(separator: " ").map(String.init) }

    private static func line(of file: UnsafeMutablePointer<FILE>) -> String? {
        var buffer = [CChar](repeating: 0, count: 1_024)
        guard fgets(&buffer, 1_024, file) != nil else { return nil }
        return String(decoding: buffer.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
