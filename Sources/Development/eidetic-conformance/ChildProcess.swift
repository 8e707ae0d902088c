import Glibc

/// A child process that runs this program on one file.
struct ChildProcess {
    private var output: [UInt8] = []
    private var status: Int32 = 0
    private var hasTimedOut = false
    private var seconds = 0.0
    private var residentMebibytes = 0

    /// Runs this program with `arguments` and waits until it exits; kills it after `timeout`.
    static func run(arguments: [String], timeout: Duration) -> ChildProcess {
        var child = ChildProcess()
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { return child }
        let start = ContinuousClock.now
        let process = spawn(arguments, output: ends[1])
        close(ends[1])
        child.read(ends[0], until: start + timeout, killing: process)
        close(ends[0])
        var usage = rusage()
        wait4(process, &child.status, 0, &usage)
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        child.seconds = Double(seconds) + Double(attoseconds) / 1e18
        child.residentMebibytes = usage.ru_maxrss >> 10
        return child
    }

    /// Returns the child's report, or its failure, with its run time and peak memory, as a line of JSON.
    func json(path: String) -> String {
        let cost = "\"t\":\(seconds),\"rss\":\(residentMebibytes)}"
        let head = "{\"path\":\(FileReport.quoted(path)),"
        if hasTimedOut { return head + "\"st\":\"timeout\"," + cost }
        let report = String(decoding: output.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        guard status == 0, report.hasPrefix("{"), report.hasSuffix("}") else {
            return head + "\"st\":\"crash\",\"msg\":\"wait status \(status)\"," + cost
        }
        return head + report.dropFirst().dropLast() + "," + cost
    }

    private static func spawn(_ arguments: [String], output: Int32) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        var words = ([CommandLine.arguments[0]] + arguments).map { strdup($0) } + [nil]
        defer { words.forEach { free($0) } }
        var process = pid_t()
        let error = posix_spawn(&process, "/proc/self/exe", &actions, nil, &words, environ)
        precondition(error == 0, "cannot start this program as a child process: error \(error)")
        return process
    }

    private mutating func read(_ pipe: Int32, until deadline: ContinuousClock.Instant, killing process: pid_t) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let remaining = deadline - .now
            var request = pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)
            guard remaining > .zero, poll(&request, 1, Int32(remaining.components.seconds * 1_000 + 1)) > 0 else {
                hasTimedOut = true
                kill(process, SIGKILL)
                return
            }
            let count = Glibc.read(pipe, &buffer, buffer.count)
            guard count > 0 else { return }
            output += buffer[..<count]
        }
    }
}
