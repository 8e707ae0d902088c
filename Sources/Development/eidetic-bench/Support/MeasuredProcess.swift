import EideticCore
import Glibc

/// The run time and peak memory of a program that has ended.
struct MeasuredProcess {
    let seconds: Double
    /// The largest resident set size, in bytes.
    let peakMemory: Int

    /// Runs a program, looked up in `PATH`, and waits until it exits; discards its output if `output` is `nil`.
    ///
    /// - Throws: An error if the program cannot be started or fails.
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
            peakMemory: usage.ru_maxrss << 10
        )
    }

    /// Runs a program and returns the lines of its output, of 64 KiB at most.
    static func outputLines(of command: [String]) throws(UsageError) -> [String] {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw UsageError(message: "cannot create a pipe: error \(errno)") }
        defer { close(ends[0]) }
        // Closed before the output is read, which then ends with that of the program.
        defer { close(ends[1]) }
        _ = try run(command, output: ends[1])
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = max(0, read(ends[0], &bytes, bytes.count))
        return String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Returns the path of a program beside this one.
    static func path(ofProgramBesideThis name: String) throws(SystemError) -> String {
        let own = try FileSystem().linkTarget(of: "/proc/self/exe")
        return String(own.reversed().drop { $0 != "/" }.reversed()) + name
    }

    /// The option with which this program runs another one and prints its peak memory.
    static let helperOption = "--memory-of"

    /// Runs a program and returns its largest resident set size, in bytes.
    ///
    /// A small child process starts the program, because Linux includes the memory of the starting process in this
    /// number, and this process uses hundreds of megabytes.
    static func peakMemory(of command: [String]) throws(UsageError) -> Int {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw UsageError(message: "cannot create a pipe: error \(errno)") }
        defer { ends.forEach { close($0) } }
        _ = try run(["/proc/self/exe", helperOption] + command, output: ends[1])
        var text = [UInt8](repeating: 0, count: 64)
        let count = read(ends[0], &text, text.count)
        guard count > 0, let number = Int(String(decoding: text[..<count], as: UTF8.self)) else {
            throw UsageError(message: "\(command[0]): its peak memory cannot be read")
        }
        return number
    }

    /// Runs a program and prints its peak memory for ``peakMemory(of:)``.
    static func printPeakMemory(of command: [String]) throws(UsageError) {
        let digits = Array("\(try run(command).peakMemory)".utf8)
        _ = write(1, digits, digits.count)
    }

    /// Returns `true` if a program with this name or path can be executed; otherwise, `false`.
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
