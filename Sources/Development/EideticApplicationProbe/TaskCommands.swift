import EideticBackground
import EideticCore
import Glibc

/// Opens and ends background tasks as the lines of a FIFO ask for: `begin` and `end INDEX`, each on another thread.
final class TaskCommands: Sendable {
    private let application: Application
    private let tasks = Guarded<[BackgroundTaskIdentifier]>([])

    init(application: Application) { self.application = application }

    func start(readingFrom path: String) {
        Thread.start(name: "commands") {
            // Writing too keeps the FIFO open between commands.
            let file = open(path, O_RDWR | O_CLOEXEC)
            while let line = Self.line(of: file) { Thread.start(name: "command") { self.perform(line) } }
            exit(2)
        }
        printLine("reads commands")
    }

    /// Reads without a stream: `exit` of glibc 2.41 waits until no other thread reads from one.
    private static func line(of file: Int32) -> String? {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while read(file, &byte, 1) == 1 {
            if byte == 10 { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
        return nil
    }

    private func perform(_ line: String) {
        let words = line.split(separator: " ")
        if words.first == "begin" {
            let task = application.beginBackgroundTask(withName: "command")
            let index = tasks.withLock { tasks in
                tasks.append(task)
                return tasks.count - 1
            }
            printLine("begun \(index) \(task == .invalid ? "invalid" : "valid")")
        } else if words.first == "end", let index = words.last.flatMap({ Int($0) }) {
            application.endBackgroundTask(tasks.withLock { $0[index] })
            printLine("ended \(index)")
        }
    }
}
