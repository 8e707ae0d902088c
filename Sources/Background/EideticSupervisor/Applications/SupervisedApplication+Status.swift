import EideticCore
import EideticSupervision
import Glibc
import EideticLifecycle

extension SupervisedApplication {
    /// The state for `eidetic app list`.
    var status: ApplicationStatus {
        var status = ApplicationStatus(identifier: identifier, state: visibleState)
        status.wasForceQuit = lifecycle.wasForceQuit
        status.lastExit = lastExit.map { String(decoding: $0.utf8.prefix(2_000), as: UTF8.self) }
        let snapshot = context.directory.snapshotPath(of: identifier)
        if access(snapshot, F_OK) == 0 { status.snapshotPath = snapshot }
        guard let process else { return status }
        status.process = process.handle.identifier
        status.freezer = process.freezer.kind == .group ? .controlGroup : .signal
        status.openTasks = UInt32(clamping: process.openTasks)
        status.backgroundTimeRemaining = lifecycle.backgroundTimeEnd.map { max(.zero, $0 - Clock.now) }
        status.suspensionCount = process.suspensionCount
        status.suspendedTime = process.suspendedTime + (process.suspensionTime.map { Clock.now - $0 } ?? .zero)
        status.residentMemory = process.residentMemory
        return status
    }

    /// The state; that of the record while a process of an earlier supervisor has not connected, and *terminating*
    /// until a killed process has ended.
    var visibleState: LifecycleState {
        guard let found = components.adoption.record else {
            return lifecycle.state == .notRunning && process != nil ? .terminating : lifecycle.state
        }
        if found.intention.isTerminating { return .terminating }
        switch found.state {
        case .active: return .active
        case .inactive: return .inactive
        case .background, .suspended: return .background
        case nil: return found.isBackgroundLaunch ? .launchingInBackground : .launching
        }
    }
}
