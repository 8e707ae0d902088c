/// The local notifications of an application that wait for their time, and those that were shown.
package struct NotificationTable: Sendable, Hashable {
    package struct Pending: Sendable, Hashable {
        package var request: NotificationRequest
        package var due: Due
        /// The time at which it was first due, by the user's clock; `nil` if it has not been.
        package var date: Int64?

        package init(request: NotificationRequest, due: Due, date: Int64? = nil) {
            self.request = request
            self.due = due
            self.date = date
        }
    }

    /// The time of a notification, by the clock of its trigger.
    package enum Due: Sendable, Hashable {
        case steady(Int64)
        case universal(Int64)
        /// A time by the user's clock, which follows the time zone.
        case local(Int64)

        func remaining(at now: ScheduleTime) -> Int64 {
            switch self {
            case .steady(let time): time - now.steady
            case .universal(let time): time - now.universal
            case .local(let time): time - now.local
            }
        }
    }

    /// A notification whose time has come.
    package struct DueNotification: Sendable, Hashable {
        package let request: NotificationRequest
        /// The time at which it was due, by the user's clock.
        package let date: Int64
        /// A Boolean value indicating whether the machine or the supervisor was off at that time.
        package let isLate: Bool
    }

    /// A notification that was shown, and its number at the notification server; 0 if it has none.
    package struct Delivered: Sendable, Hashable {
        package var request: NotificationRequest
        package var number: UInt32
        package var date: Int64

        package init(request: NotificationRequest, number: UInt32, date: Int64) {
            self.request = request
            self.number = number
            self.date = date
        }
    }

    /// All that wait, in the order of their requests.
    package var pending: [Pending] = []
    /// The last ones that were shown.
    package var delivered: [Delivered] = []
    package var badge: UInt32 = 0

    package init() {}

    /// The number of notifications that are armed at a time; the rest waits.
    package static let armedLimit = 64
    package static let pendingLimit = 1_000
    package static let deliveredLimit = 100
    /// The delay in seconds after which a notification is late.
    package static let lateness: Int64 = 60

    /// Adds a request, in place of one with the same identifier; returns `false` if too many wait.
    package mutating func add(_ request: NotificationRequest, at now: ScheduleTime) -> Bool {
        pending.removeAll { $0.request.identifier == request.identifier }
        guard pending.count < Self.pendingLimit else { return false }
        pending.append(Pending(request: request, due: Self.firstTime(of: request.trigger, at: now)))
        return true
    }

    /// Removes the requests that wait; all without identifiers.
    package mutating func removePending(_ identifiers: Set<String>?) {
        pending.removeAll { identifiers?.contains($0.request.identifier) ?? true }
    }

    private static func firstTime(of trigger: NotificationRequest.Trigger, at now: ScheduleTime) -> Due {
        switch trigger {
        case .now: .steady(now.steady)
        case .interval(let seconds, _): .steady(now.steady + seconds)
        case .date(let time): .universal(time)
        case .daily(let second, let weekday): .local(nextDay(second: second, weekday: weekday, after: now.local))
        }
    }

    /// The first time after another one at which a second of a day comes.
    static func nextDay(second: Int64, weekday: UInt8?, after local: Int64) -> Int64 {
        let today = local.flooredDivision(by: .day)
        let day = (today...today + 7).first { day in
            let number = (day + 4) - (day + 4).flooredDivision(by: 7) * 7
            return day * .day + second > local && weekday.map { Int64($0) == number } ?? true
        }
        return (day ?? today + 7) * .day + second
    }

    /// The soonest notifications, of which one is shown next.
    package func armed(at now: ScheduleTime) -> [Pending] {
        Array(sorted(at: now).prefix(Self.armedLimit))
    }

    private func sorted(at now: ScheduleTime) -> [Pending] {
        pending.enumerated().sorted { one, other in
            let first = one.element.due.remaining(at: now)
            let second = other.element.due.remaining(at: now)
            return first == second ? one.offset < other.offset : first < second
        }.map(\.element)
    }

    /// The seconds to the soonest notification by the steady clock, and by the clock that may jump.
    package func nextDelays(at now: ScheduleTime) -> (steady: Int64?, wall: Int64?) {
        var (steady, wall): (Int64?, Int64?)
        for entry in pending {
            let delay = Swift.max(0, entry.due.remaining(at: now))
            if case .steady = entry.due {
                steady = Swift.min(steady ?? delay, delay)
            } else {
                wall = Swift.min(wall ?? delay, delay)
            }
        }
        return (steady, wall)
    }

    /// Removes the notifications whose time has come, the earliest one first; one that repeats waits for its next time
    /// and comes once, however often it was missed.
    package mutating func takeDue(at now: ScheduleTime) -> [DueNotification] {
        followClock(at: now)
        var due: [DueNotification] = []
        for entry in sorted(at: now) {
            let remaining = entry.due.remaining(at: now)
            guard remaining <= 0 else { break }
            let date = entry.date ?? now.local + remaining
            due.append(
                DueNotification(request: entry.request, date: date, isLate: now.local - date >= Self.lateness)
            )
            pending.removeAll { $0 == entry }
            if let next = Self.nextTime(after: entry, at: now) {
                pending.append(Pending(request: entry.request, due: next))
            }
        }
        return due
    }

    private static func nextTime(after entry: Pending, at now: ScheduleTime) -> Due? {
        switch (entry.request.trigger, entry.due) {
        case (.interval(let seconds, true), .steady(let last)):
            .steady(last + ((now.steady - last) / seconds + 1) * seconds)
        case (.daily(let second, let weekday), _):
            .local(nextDay(second: second, weekday: weekday, after: now.local))
        default: nil
        }
    }

    /// Brings daily notifications back to a clock that was set back by a day or more.
    private mutating func followClock(at now: ScheduleTime) {
        for index in pending.indices {
            guard case .daily(let second, let weekday) = pending[index].request.trigger else { continue }
            let next = Self.nextDay(second: second, weekday: weekday, after: now.local)
            if pending[index].due.remaining(at: now) > next - now.local { pending[index].due = .local(next) }
        }
    }

    /// Keeps a notification that could not be shown, for another attempt; one that waits for its next time takes its
    /// place.
    package mutating func keep(_ due: DueNotification, for seconds: Int64, at now: ScheduleTime) {
        guard !pending.contains(where: { $0.request.identifier == due.request.identifier }) else { return }
        var request = due.request
        request.trigger = .now
        pending.append(Pending(request: request, due: .steady(now.steady + seconds), date: due.date))
    }

    package mutating func recordDelivery(of due: DueNotification, number: UInt32) {
        delivered.removeAll { $0.request.identifier == due.request.identifier }
        delivered.append(Delivered(request: due.request, number: number, date: due.date))
        if delivered.count > Self.deliveredLimit { delivered.removeFirst() }
    }

    /// The number at the notification server that a notification with the same identifier has; 0 without one.
    package func replacedNumber(for identifier: String) -> UInt32 {
        delivered.last { $0.request.identifier == identifier }?.number ?? 0
    }
}
