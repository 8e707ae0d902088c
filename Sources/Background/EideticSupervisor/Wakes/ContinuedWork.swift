import EideticCore
import EideticDBus
import EideticLifecycle
import EideticSupervision

/// Work that the user has started, and that goes on in the background while it makes progress.
struct ContinuedWork {
    /// The notification on the screen, which the answers of its server change.
    final class Notification {
        var number: UInt32 = 0
        var isUnderWay = false
        /// A Boolean value indicating whether the work has ended, or the user does not want to see it.
        var isUnwanted = false
        /// The progress on the screen; -1 if it is not there, or the server has not taken it.
        var shownPercent = -1
        /// A Boolean value indicating whether the server has shown it.
        var wasShown = false
        /// The time before which it is not shown again, as the server has refused it.
        var retryTime: Duration?

        /// Records the answer of the server.
        func record(_ result: Result<[BusValue], BusError>, retryTime: Duration) {
            isUnderWay = false
            switch result {
            case .success(let values): (wasShown, number) = (true, values.first?.number ?? 0)
            case .failure: (shownPercent, self.retryTime) = (-1, retryTime)
            }
        }
    }

    let title: String
    let subtitle: String
    private(set) var progress = WorkProgress()
    /// The time of the last progress; `nil` while nobody waits for any, as the application is not in the background.
    var progressTime: Duration?
    var notification = Notification()

    init(_ message: ContinuedWorkMessage) { (title, subtitle) = (message.title, message.subtitle) }

    /// The progress, 0 to 100.
    var percent: Int { progress.percent }

    /// Records a report; one without progress changes nothing.
    mutating func report(_ report: WorkProgress, at now: Duration) {
        if progress.record(report), progressTime != nil { progressTime = now }
    }
}
