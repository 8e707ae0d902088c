import EideticCore
import EideticLifecycle
import EideticSupervision
import Glibc

/// The page that a process shares with the supervisor, on which it counts its open tasks, and the phase written there.
struct TaskPage {
    let file: SharedPageFile
    let path: String
    let token: [UInt8]
    private var phase = TaskPhase.foreground
    private var deadline: Duration?

    init(_ file: SharedPageFile, at path: String, token: [UInt8]) {
        self.file = file
        self.path = path
        self.token = token
    }

    /// The number of open tasks that the application states; 1 if it has destroyed the page.
    var openTasks: Int { file.openTasks.map { Int(clamping: $0) } ?? 1 }

    /// A Boolean value indicating whether tasks may begin.
    var admitsTasks: Bool { phase.admitsTasks }

    /// Writes the phase, and the end of background time.
    mutating func setPhase(_ phase: TaskPhase, deadline: Duration?) throws(SystemError) {
        self.phase = phase
        self.deadline = deadline
        try file.setPhase(phase, deadline: deadline)
    }

    /// Admits no further task, and returns the number of open ones.
    func close(at now: Duration) -> Int {
        try? file.setPhase(.terminating, deadline: now)
        return openTasks
    }

    /// Writes the phase again that was written before ``close(at:)``.
    func reopen() { try? file.setPhase(phase, deadline: deadline) }

    func remove() { unlink(path) }
}
