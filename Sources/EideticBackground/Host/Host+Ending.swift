import EideticCore
import Glibc
import LifecycleCore

// How this process stops, ends, or is ended.
extension Host {
    /// Stops this process as Ctrl-Z does, once nothing is open and nothing more can begin.
    func stopSelf() {
        let moment = application.clock.uptime
        guard application.tasks.shutIfIdle() else {
            let open = application.tasks.count
            return followUps.append((.frozen(openTasks: open, blocksOthers: false), moment))
        }
        application.setState(.suspended)
        application.notices.suspend()
        kill(getpid(), SIGSTOP)
        // Here it has been continued; the time in between is not charged.
        followUps.append((.frozen(openTasks: 0, blocksOthers: false), moment))
    }

    func saveArchive() {
        guard let bytes = newArchive else { return }
        newArchive = nil
        archive?.save(bytes)
    }

    func finish() {
        Log.write(.info, .background, "ends")
        exit(0)
    }

    /// Ends this process for a broken rule, and leaves the reason where it can be read.
    func endNow(_ reason: KillReason) {
        let report = KillReport(reason, openTasks: application.tasks.names).text
        let line = "eidetic: \(report)\n"
        _ = line.withCString { write(STDERR_FILENO, $0, strlen($0)) }
        archive?.saveReport(report)
        service.status(report)
        kill(getpid(), SIGKILL)
        // The signal may take a moment to arrive.
        while true { pause() }
    }
}

/// Why a process was ended, for a person and for a program.
struct KillReport {
    let text: String

    // As in "killed, code 0x8badf00d: applicationDidEnterBackground took too long; open tasks: upload, flush".
    init(_ reason: KillReason, openTasks: [String]) {
        let digits = String(reason.code, radix: 16)
        let code = String(repeating: "0", count: 8 - digits.count) + digits
        let tasks = openTasks.isEmpty ? "" : "; open tasks: \(openTasks.joined(separator: ", "))"
        text = "killed, code 0x\(code): \(Self.explanation(reason))\(tasks)"
    }

    private static func explanation(_ reason: KillReason) -> String {
        switch reason {
        case .watchdog(let callback): "\(name(callback)) took too long"
        case .backgroundTask: "background tasks were open after their expiry"
        case .session: "a session's events were not completed in time"
        case .wake: "a wake was not completed in time"
        case .lockHeld: "a file lock that others wait for was held at suspension"
        case .memory: "memory was short"
        case .userForceQuit: "ended by the user"
        case .terminatedWhileSuspended: "ended while suspended"
        }
    }

    private static func name(_ callback: Callback) -> String {
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
