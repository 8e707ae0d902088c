package import EideticLifecycle
package import EideticSupervision

/// The schedule and the notifications of an application, which outlive the supervisor and the machine's run.
package struct WakeRecord: Sendable, Hashable {
    /// The program, for a supervisor that has no other record of it.
    package var program: ProgramDescription?
    package var schedule: WakeSchedule
    package var notifications = NotificationTable()
    package var throttle = PushThrottle()
    /// The token by which the distributor of messages knows the application; `nil` if it wants none.
    package var messageToken: String?
    /// The address to which servers send messages; `nil` until the distributor has named it.
    package var messageAddress: String?
    package var wantsLocation = false
    package var wasForceQuit = false
    package var crashes = WakeCrashes()

    package init(schedule: WakeSchedule) { self.schedule = schedule }

    /// A Boolean value indicating whether nothing is lost with the record.
    package var isEmpty: Bool {
        schedule.fetchInterval == .never && schedule.tasks.isEmpty && notifications.pending.isEmpty
            && throttle.waiting == nil && messageToken == nil && !wantsLocation
            && crashes.counts.isEmpty
    }

    /// Returns the time of the next wake or notification.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - admitsMessages: A Boolean value indicating whether the application is woken for messages.
    /// - Returns: The time by the steady clock; `nil` if there is none.
    func nextTime(at now: ScheduleTime, admitsMessages: Bool) -> Int64? {
        let delay = notifications.nextDelays(at: now).steady.map { now.steady + $0 }
        let messageTime = admitsMessages ? throttle.nextTime : nil
        return [schedule.nextTime, messageTime, delay].compactMap(\.self).min()
    }
}
