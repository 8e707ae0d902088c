import Glibc

/// The watchdog by which a service manager kills a process that does not report in time: a frozen one does not.
///
/// - SeeAlso: sd_watchdog_enabled(3)
struct ServiceWatchdog: Hashable {
    /// The time between two reports, in words.
    let interval: String

    /// Finds the watchdog of a process in its environment; `nil` if it has none.
    init?(of process: Int32) {
        guard let text = ProcessStatus.environmentValue(of: "WATCHDOG_USEC", in: process), let interval = UInt64(text),
            interval > 0, ProcessStatus.environmentValue(of: "NOTIFY_SOCKET", in: process) != nil
        else { return nil }
        let owner = ProcessStatus.environmentValue(of: "WATCHDOG_PID", in: process).flatMap { Int32($0) }
        guard owner == nil || owner == process else { return nil }
        self.interval = "\(Double(interval / 1_000) / 1_000) s"
    }

    /// The line for `eidetic app why`.
    var explanation: String {
        "not suspended: its service manager ends it unless it reports every \(interval) (WATCHDOG_USEC)"
    }
}
