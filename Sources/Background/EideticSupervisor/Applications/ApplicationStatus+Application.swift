import EideticLifecycle
import EideticSupervision
import Glibc

extension ApplicationStatus {
    /// The state of an application for `eidetic app list`.
    init(of application: SupervisedApplication) {
        self.init(
            identifier: application.identifier,
            state: application.components.adoption.state(in: application.view)
        )
        wasForceQuit = application.lifecycle.history.wasForceQuit
        lastExit = application.components.remarks.exit.map { String(decoding: $0.utf8.prefix(2_000), as: UTF8.self) }
        let snapshot = application.files.snapshotPath
        if access(snapshot, F_OK) == 0 { snapshotPath = snapshot }
        guard let process = application.process else { return }
        self.process = process.handle.identifier
        freezer = process.freezer.kind == .group ? .controlGroup : .signal
        openTasks = UInt32(clamping: process.page.openTasks)
        backgroundTimeRemaining = application.lifecycle.backgroundTimeEnd.map { max(.zero, $0 - Clock.now) }
        suspensionCount = process.suspensions.count
        suspendedTime = process.suspensions.total(at: Clock.now)
        residentMemory = process.residentMemory
    }
}
