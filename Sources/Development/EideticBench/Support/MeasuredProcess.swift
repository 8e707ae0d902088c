import EideticCore
import Glibc

/// A program that was run to its end: how long it took, and how much memory at the most.
struct MeasuredProcess {
    let seconds: Double
    /// The largest resident set, in bytes.
    let memory: Int

    /// Runs a program, found as a shell would; its output goes to `output`, or nowhere.
    ///
    /// - Throws: Where it cannot be started, or fails.
    static func run(_ command: [String], output: Int32? = nil) throws(UsageError) -> MeasuredProcess {
        let start = ContinuousClock.now
        let process = try spawn(command, output: output)
        var status: Int32 = 0
        var usage = rusage()
        while wait4(process, &status, 0, &usage) < 0, errno == EINTR {}
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        guard status == 0 else { throw UsageError(message: "\(command[0]) failed: wait status \(status)") }
        return MeasuredProcess(
            seconds: Double(seconds) + Double(attoseconds) / 1e18,
            memory: usage.ru_maxrss << 10
        )
    }

    /// What this program is called with to run another from a small process.
    static let helperOption = "--memory-of"

    /// The largest resident set of a program, in bytes.
    ///
    /// Another process of this program starts it: Linux counts what the starting process had in memory as well, and
    /// this one has hundreds of megabytes.
    static func peakMemory(of command: [String]) throws(UsageError) -> Int {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw UsageError(message: "no pipe: error \(errno)") }
        defer { ends.forEach { close($0) } }
        _ = try run(["/proc/self/exe", helperOption] + command, output: ends[1])
        var text = [UInt8](repeating: 0, count: 64)
        let count = read(ends[0], &text, text.count)
        guard count > 0, let number = Int(String(decoding: text[..<count], as: UTF8.self)) else {
            throw UsageError(message: "\(command[0]): its memory is not known")
        }
        return number
    }

    /// Writes what ``memory(of:)`` reads.
    static func printPeakMemory(of command: [String]) throws(UsageError) {
        let digits = Array("\(try run(command).memory)".utf8)
        _ = write(1, digits, digits.count)
    }

    /// Whether there is such a program.
    static func isInstalled(_ name: String) -> Bool {
        guard !name.contains("/") else { return access(name, X_OK) == 0 }
        guard let path = getenv("PATH").map({ String(cString: $0) }) else { return false }
        return path.split(separator: ":").contains { access("\($0)/\(name)", X_OK) == 0 }
    }

    private static func spawn(_ command: [String], output: Int32?) throws(UsageError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        if let output { posix_spawn_file_actions_adddup2(&actions, output, 1) }
        var words = command.map { strdup($0) } + [nil]
        defer { words.forEach { free($0) } }
        var process = pid_t()
        let error = posix_spawnp(&process, command[0], &actions, nil, &words, environ)
        guard error == 0 else { throw UsageError(message: "\(command[0]) cannot be started: error \(error)") }
        return process
    }
}
