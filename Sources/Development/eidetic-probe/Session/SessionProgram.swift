import EideticCore
import EideticTransfer
import Glibc

/// An application that downloads numbered files into a directory, and may be killed at any time.
///
/// usage: eidetic-probe session ROOT SERVICE IDENTIFIER URL COUNT MODE
///
/// The files appear in `ROOT/output`, a line for each event in `ROOT/log`. In the mode `hold` tasks are handed over,
/// and no event is handled. In the mode `image` the load of an image is handed over, in the mode `show` it is loaded.
/// In the mode `application` the program is an application under a supervisor.
enum SessionProgram {
    @MainActor
    static func run(_ words: [String]) async {
        guard words.count == 6, let count = Int(words[4]) else { exit(64) }
        let probe = SessionProbe(root: words[0], base: words[3], count: count)
        do {
            var configuration = BackgroundURLSession.Configuration(identifier: words[2])
            configuration.service = ServiceLocation(socketPath: "\(words[0])/socket", directory: "\(words[0])/service")
            configuration.service.program = words[1] == "-" ? .none : .path(words[1])
            // The supervisor knows an application by the name of its program.
            if words[5] != "application" { configuration.application = "probe" }
            if words[5] == "image" || words[5] == "show" {
                try await ImageProbe(root: words[0], url: words[3]).run(configuration, hands: words[5] == "image")
                exit(0)
            }
            if words[5] == "application" {
                let probe = ApplicationProbe(
                    root: words[0],
                    base: words[3],
                    count: count,
                    configuration: configuration
                )
                return try await probe.run()
            }
            let session = try BackgroundURLSession(
                configuration: configuration,
                delegate: words[5] == "hold" ? nil : probe
            )
            try await probe.run(session, holds: words[5] == "hold")
            print("done")
            exit(0)
        } catch {
            print("failed: \(error)")
            exit(1)
        }
    }
}

/// The work and the delegate of the application.
@MainActor
final class SessionProbe: BackgroundURLSessionDelegate {
    private let root: String
    private let base: String
    private let count: Int
    private let log: Int32
    private var completionCount = 0
    private var waiter: CheckedContinuation<Void, Never>?

    nonisolated init(root: String, base: String, count: Int) {
        self.root = root
        self.base = base
        self.count = count
        log = open("\(root)/log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    }

    func run(_ session: BackgroundURLSession, holds: Bool) async throws(EideticError) {
        let known = Set(try await session.allTasks.compactMap(\.taskDescription))
        for number in 0..<count where !known.contains("\(number)") && !isComplete(number) {
            try session.task(forFile: number, of: base, root: root).resume()
        }
        for task in try await session.allTasks { try await task.waitUntilAccepted() }
        print("accepted")
        fflush(nil)
        if holds { await withCheckedContinuation { waiter = $0 } }
        while !(0..<count).allSatisfy(isComplete) { await withCheckedContinuation { waiter = $0 } }
        // Events of files that an earlier process has moved may still come.
        while true {
            await session.waitUntilAcknowledged()
            let count = completionCount
            if try await session.allTasks.isEmpty { return }
            // An event that has come meanwhile does not come again.
            if count == completionCount { await withCheckedContinuation { waiter = $0 } }
        }
    }

    private func isComplete(_ number: Int) -> Bool { access("\(root)/output/\(number)", F_OK) == 0 }

    private func write(_ line: String) {
        let bytes = Array("\(line)\n".utf8)
        _ = Glibc.write(log, bytes, bytes.count)
    }

    func urlSession(
        _ session: BackgroundURLSession,
        downloadTask task: DownloadTask,
        didFinishDownloadingTo path: String
    ) {
        let number = task.taskDescription ?? ""
        let status = task.response?.statusCode ?? 0
        guard status == 200 || status == 206 else { return write("status \(number) \(status)") }
        let moved = rename(path, "\(root)/output/\(number)") == 0
        write("\(moved ? "moved" : "missing") \(number)")
    }

    func urlSession(
        _ session: BackgroundURLSession,
        task: TransferTask,
        didCompleteWithError error: EideticError?
    ) {
        for line in task.completionLines(root: root, error: error) { write(line) }
        // The acknowledgement follows this callback.
        completionCount += 1
        let waiting = waiter
        waiter = nil
        waiting?.resume()
    }

    func urlSession(_ session: BackgroundURLSession, didBecomeInvalidWithError error: EideticError?) {
        write("invalid \(error.map { "\($0.code)" } ?? "ok")")
    }
}
