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
            guard let file = fdopen(open(path, O_RDWR | O_CLOEXEC), "r") else { exit(2) }
            while let line = Self.line(of: file) { Thread.start(name: "command") { self.perform(line) } }
            exit(2)
        }
        printLine("reads commands")
    }

    private static func line(of file: UnsafeMutablePointer<FILE>) -> String? {
        var buffer = [CChar](repeating: 0, count: 64)
        guard fgets(&buffer, 64, file) != nil else { return nil }
        return String(decoding: buffer.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
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
