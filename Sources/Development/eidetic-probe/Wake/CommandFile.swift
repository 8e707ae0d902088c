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
            let file = Glibc.open(path, O_RDWR | O_CLOEXEC)
            guard file >= 0 else { exit(2) }
            while let line = Self.line(of: file) { continuation.yield(line) }
        }
    }

    /// Opens the FIFO for a program that polls.
    func open() -> Int32 { Glibc.open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK) }

    static func words(of line: String) -> [String] { line.split(separator: " ").map(String.init) }

    /// Reads without a stream: `exit` of glibc 2.41 waits until no other thread reads from one.
    private static func line(of file: Int32) -> String? {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while Glibc.read(file, &byte, 1) == 1 {
            if byte == 10 { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
        return nil
    }
}
