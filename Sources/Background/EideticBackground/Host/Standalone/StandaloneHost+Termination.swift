import EideticCore
import Glibc
import EideticLifecycle

// The ways in which this process stops and ends.
extension StandaloneHost {
    /// Stops this process as Ctrl-Z does, once no task is open and none can start.
    func stopProcess() {
        let moment = now
        guard application.tasks.closeIfIdle() else {
            let open = application.tasks.count
            return pendingEvents.append((.processFrozen(.first, openTasks: open, blocksOthers: false), moment))
        }
        performer.setState(.suspended, at: moment)
        application.noticeCenter.suspend()
        // Directed to this thread, which therefore stops here; the others stop with it.
        raise(SIGSTOP)
        // The process was continued; the time in between is not charged.
        skipStoppedTime()
        pendingEvents.append((.processFrozen(.first, openTasks: 0, blocksOthers: false), moment))
        // What happened meanwhile is known before the application continues.
        performer.readNotices()
        // Not by SIGCONT, which may be read after a later signal, or have a handler of the application's own.
        pendingEvents.append((resumeByJobControl(), now))
    }

    /// Kills this process for a violation, after saving the report.
    func killProcess(for reason: KillReason) {
        let report = KillReport(reason: reason, openTasks: application.tasks.names).text
        performer.archive?.saveReport(report)
        performer.serviceManager.reportStatus(report)
        printReport("eidetic: \(report)\n")
        kill(getpid(), SIGKILL)
        // The signal may take a moment to arrive.
        while true { pause() }
    }

    /// Writes to the standard error if it is ready; a missing reader must neither delay nor change the end.
    private func printReport(_ line: String) {
        signal(SIGPIPE, SIG_IGN)
        var polled = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
        guard poll(&polled, 1, 0) == 1 else { return }
        // A pipe that is ready accepts a page without blocking, and a report is shorter.
        _ = line.withCString { write(STDERR_FILENO, $0, strlen($0)) }
    }
}
