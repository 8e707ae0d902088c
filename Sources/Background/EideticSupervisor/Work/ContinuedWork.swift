import EideticLifecycle
import EideticSupervision

/// Work that the user has started, and that goes on in the background while it makes progress.
package struct ContinuedWork {
    /// The notification on the screen, which the answers of its server change.
    package final class Notification {
        /// The number by which the server knows it.
        package fileprivate(set) var number: UInt32 = 0
        package fileprivate(set) var wasShown = false
        /// A Boolean value indicating whether the work has ended, or the user does not want to see it.
        var isUnwanted = false
        /// The time before which it is not shown again, as the server has refused it.
        var retryTime: Duration?
        private var isUnderWay = false
        /// The progress on the screen; -1 if it is not there, or the server has not taken it.
        private var shownPercent = -1

        var isOnScreen: Bool { wasShown && !isUnderWay }

        /// Begins to show progress; returns `false` if the screen shows it, or must not.
        fileprivate func begin(_ percent: Int) -> Bool {
            guard !isUnderWay, !isUnwanted, shownPercent != percent, retryTime == nil else { return false }
            isUnderWay = true
            shownPercent = percent
            return true
        }

        /// Records the answer of the server: the number, or `nil` for a refusal.
        func record(_ number: UInt32?, retryTime: Duration) {
            isUnderWay = false
            if let number {
                wasShown = true
                self.number = number
            } else {
                shownPercent = -1
                self.retryTime = retryTime
            }
        }

        /// Forgets what the screen shows, as the server may be another one.
        func reset() {
            retryTime = nil
            shownPercent = -1
        }
    }

    package let title: String
    package let subtitle: String
    private var progress = WorkProgress()
    /// The time of the last progress; `nil` while nobody waits for any, as the application is not in the background.
    var progressTime: Duration?
    package private(set) var notification = Notification()

    /// Creates work, with the number of the notification that an earlier supervisor has shown.
    init(_ message: ContinuedWorkMessage, shownAs number: UInt32?) {
        title = message.title
        subtitle = message.subtitle
        guard let number else { return }
        notification.number = number
        notification.wasShown = true
    }

    /// The progress, 0 to 100.
    package var percent: Int { progress.percent }

    /// Records a report; one without progress changes nothing.
    mutating func report(_ report: WorkProgress, at now: Duration) {
        if progress.record(report), progressTime != nil { progressTime = now }
    }

    /// Begins to show the progress; returns `false` if there is nothing to show.
    func beginToShow() -> Bool { progressTime != nil && notification.begin(percent) }

    /// Takes another notification, as the one on the screen is withdrawn.
    mutating func renewNotification() { notification = Notification() }
}
