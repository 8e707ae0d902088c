import EideticCore
import Glibc

/// Counts the wake-ups of the lifecycle thread: how often the kernel let it run after it had waited.
enum WakeupCount {
    /// Prints the number of wake-ups within a time, from a thread of its own.
    static func start(seconds: Int) {
        Thread.start(name: "wakeups") {
            // Not the launch itself.
            sleep(1)
            let before = count()
            sleep(UInt32(seconds))
            printLine("wakeups \(count() - before)")
        }
    }

    /// The voluntary context switches of the thread.
    private static func count() -> Int {
        let files = FileSystem()
        func text(_ path: String) -> String {
            String(decoding: (try? files.contents(of: path, limit: 1 << 16)) ?? [], as: UTF8.self)
        }
        let threads = (try? files.entryNames(in: "/proc/self/task")) ?? []
        let path = threads.map { "/proc/self/task/\($0)" }.first { text("\($0)/comm") == "eidetic-life\n" } ?? ""
        let line = text("\(path)/status").split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches") }
        return line?.split(whereSeparator: \.isWhitespace).last.flatMap { Int($0) } ?? 0
    }
}
