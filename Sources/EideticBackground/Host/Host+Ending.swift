import EideticCore
import Glibc
package import LifecycleCore

// How this process stops, ends, or is ended.
extension LifecycleHost {
    /// Stops this process as Ctrl-Z does, once nothing is open and nothing more can begin.
    func stopProcess() {
        let moment = application.clock.uptime
        guard application.tasks.closeIfIdle() else {
            let open = application.tasks.count
            return pendingEvents.append((.processFrozen(openTasks: open, blocksOthers: false), moment))
        }
        application.setState(.suspended)
        application.noticeCenter.suspend()
        kill(getpid(), SIGSTOP)
        // Here it has been continued; the time in between is not charged.
        pendingEvents.append((.processFrozen(openTasks: 0, blocksOthers: false), moment))
    }

    func saveArchive() {
        guard let bytes = unsavedArchive else { return }
        unsavedArchive = nil
        archive?.save(bytes)
    }

    func exitProcess() {
        Log.write(.info, category: .background, message: "ends")
        exit(0)
    }

    /// Ends this process for a broken rule, and leaves the reason where it can be read.
    func killProcess(for reason: KillReason) {
        let report = KillReport(reason: reason, openTasks: application.tasks.names).text
        archive?.saveReport(report)
        serviceManager.reportStatus(report)
        printReport("eidetic: \(report)\n")
        kill(getpid(), SIGKILL)
        // The signal may take a moment to arrive.
        while true { pause() }
    }

    /// Writes to the standard error, unless nobody reads there: that must not hold up the end, nor change it.
    private func printReport(_ line: String) {
        signal(SIGPIPE, SIG_IGN)
        var polled = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
        guard poll(&polled, 1, 0) == 1 else { return }
        // A pipe that is ready takes one page without waiting, which is more than a report has.
        _ = line.withCString { write(STDERR_FILENO, $0, strlen($0)) }
    }
}

/// Why a process was ended, for a person and for a program.
package struct KillReport {
    package let text: String

    /// The most bytes of names; the rest is counted.
    private static let maximumNameByteCount = 2_000

    // As in "killed, code 0x8badf00d: applicationDidEnterBackground took too long; open tasks: upload, flush".
    package init(reason: KillReason, openTasks: [String]) {
        let digits = String(reason.code, radix: 16)
        let code = String(repeating: "0", count: 8 - digits.count) + digits
        let tasks = openTasks.isEmpty ? "" : "; open tasks: \(Self.joined(openTasks))"
        text = "killed, code 0x\(code): \(Self.explanation(of: reason))\(tasks)"
    }

    /// The names, as many as one line holds, each on the line: a control character is no way to begin another.
    private static func joined(_ names: [String]) -> String {
        var (list, left) = ("", names.count)
        for name in names {
            let bytes = name.utf8.prefix(maximumNameByteCount).map { $0 < 0x20 || $0 == 0x7f ? UInt8(ascii: "?") : $0 }
            let clean = String(decoding: bytes, as: UTF8.self)
            if list.utf8.count + clean.utf8.count > maximumNameByteCount, !list.isEmpty {
                return "\(list) and \(left) more"
            }
            list += list.isEmpty ? clean : ", \(clean)"
            left -= 1
        }
        return list
    }

    private static func explanation(of reason: KillReason) -> String {
        switch reason {
        case .watchdog(let callback): "\(name(of: callback)) took too long"
        case .backgroundTask: "background tasks were open after their expiry"
        case .session: "a session's events were not completed in time"
        case .wake: "a wake was not completed in time"
        case .lockHeld: "a file lock that others wait for was held at suspension"
        case .memory: "memory was short"
        case .userForceQuit: "ended by the user"
        case .terminatedWhileSuspended: "ended while suspended"
        }
    }

    private static func name(of callback: LifecycleCallback) -> String {
        switch callback {
        case .launch, .launchInBackground: "the launch"
        case .didBecomeActive: "applicationDidBecomeActive"
        case .willResignActive: "applicationWillResignActive"
        case .didEnterBackground: "applicationDidEnterBackground"
        case .willEnterForeground: "applicationWillEnterForeground"
        case .openURL(let url): "opening \(url)"
        case .wake: "a wake"
        case .willTerminate: "applicationWillTerminate"
        }
    }
}
