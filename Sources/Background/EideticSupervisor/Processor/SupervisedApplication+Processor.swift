import EideticCore
import Glibc
import EideticLifecycle

// Applications that use the processor heavily in the background.
extension SupervisedApplication {
    /// Looks at the processor time of an application that runs in the background.
    func checkProcessorUse(at now: Duration) {
        guard let process, lifecycle.reachedState == .background, process.suspensionTime == nil else { return }
        guard let decision = process.processorUse.record(used: processorTime(of: process), at: now) else { return }
        let window = "\(Int(context.configuration.processorWindow.inMilliseconds)) ms"
        switch decision {
        case .slowDown(let percent):
            let means = slowDown(process)
            tell(
                "used \(percent) % of a processor for \(window) in the background: slowed down (\(means))",
                of: process
            )
        // It is limited by its progress.
        case .callIn where !process.continuedWork.isEmpty: break
        case .callIn(let percent):
            tell("used \(percent) % of a processor for \(window) in the background: called in early", of: process)
            handle(.backgroundTimeRevoked)
        case .restore: unthrottle()
        }
    }

    private func tell(_ text: String, of process: RunningProcess) {
        process.processorReport = text
        log(text)
    }

    /// Ends the measurement, when the application is suspended or in the foreground.
    func resetProcessorUse() {
        guard let process else { return }
        process.processorUse.reset()
        unthrottle()
    }

    /// The processor time of all processes of the application.
    private func processorTime(of process: RunningProcess) -> Duration {
        (process.freezer as? GroupFreezer)?.processorTime
            ?? process.freezer.processes.reduce(.zero) { $0 + (ProcessStatus.processorTime(of: $1) ?? .zero) }
    }

    /// Reduces the priority of the processes; returns the means in words.
    func slowDown(_ process: RunningProcess) -> String {
        process.isThrottled = true
        if (process.freezer as? GroupFreezer)?.setLowWeight(true) ?? false { return "least share of the processor" }
        guard geteuid() == 0 else { return "not throttled" }
        setPriority(19, of: process.freezer.processes)
        return "nice 19"
    }

    /// Restores the priority of the processes.
    func unthrottle() {
        guard let process, process.isThrottled else { return }
        process.isThrottled = false
        let isWeighted = (process.freezer as? GroupFreezer)?.setLowWeight(false) ?? false
        if !isWeighted, geteuid() == 0 { setPriority(0, of: process.freezer.processes) }
    }

    /// Sets the priority of every thread: it is one of threads on Linux.
    private func setPriority(_ priority: Int32, of processes: [Int32]) {
        for process in processes {
            for thread in ProcessStatus.threads(of: process) { ProcessPriority.set(priority, of: thread.identifier) }
        }
    }
}
