import EideticBus
import EideticWire
import LifecycleCore

/// Work that the user has started, and that goes on in the background while it makes progress.
struct ContinuedWork {
    /// The notification on the screen, which the answers of its server change.
    final class Notification {
        var number: UInt32 = 0
        var isUnderWay = false
        /// A Boolean value indicating whether the work has ended, or the user does not want to see it.
        var isUnwanted = false
        var shownPercent = -1
    }

    let title: String
    let subtitle: String
    private(set) var completed: UInt64 = 0
    private(set) var total: UInt64 = 0
    /// The time of the last progress; `nil` while nobody waits for any, as the application is not in the background.
    var progressTime: Duration?
    var notification = Notification()

    init(_ message: ContinuedWorkMessage) { (title, subtitle) = (message.title, message.subtitle) }

    /// The progress, 0 to 100.
    var percent: Int { total == 0 ? 0 : Int(Double(min(completed, total)) / Double(total) * 100) }

    /// Records a report; one without progress changes nothing.
    mutating func report(completed: UInt64, total: UInt64, at now: Duration) {
        if completed > self.completed, progressTime != nil { progressTime = now }
        (self.completed, self.total) = (max(completed, self.completed), total)
    }
}
