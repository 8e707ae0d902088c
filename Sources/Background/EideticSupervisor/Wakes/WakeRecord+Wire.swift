package import EideticCore
package import EideticLifecycle
import EideticSupervision

extension WakeRecord: WireRecord {
    package static let layout = Layout(
        from: { WakeRecord(schedule: WakeSchedule(at: ScheduleTime(steady: 0, local: 0))) },
        NumberedField(1, optional: \.program),
        NumberedField(2, \.schedule),
        NumberedField(3, \.notifications.pending),
        NumberedField(4, \.notifications.delivered),
        NumberedField(5, \.notifications.badge),
        NumberedField(6, \.throttle),
        NumberedField(7, optional: \.messageToken, as: .path),
        NumberedField(8, optional: \.messageAddress, as: .path),
        NumberedField(9, \.wantsLocation),
        NumberedField(10, \.wasForceQuit),
        NumberedField(11, \.crashes)
    )
    .preceded(by: 2 as UInt8)
}

extension WakeCrashes: WireRecord {
    package static let layout = Layout(Self.init, Field(\.counts, .crashCounts), Field(\.time), Field(\.program))
}

extension WakeCrashes.ProgramFile: WireRecord {
    package static let layout = Layout(Self.init, \.inode, \.modificationTime)
}

extension WakeSchedule: WireRecord {
    package static let layout = Layout(
        from: { WakeSchedule(at: ScheduleTime(steady: 0, local: 0)) },
        NumberedField(1, \.fetchInterval),
        NumberedField(2, \.habits),
        NumberedField(3, \.quota.charges, as: .list(.value, limit: 4_096)),
        NumberedField(4, \.score),
        NumberedField(5, \.tasks, as: .list(.value, limit: 64)),
        NumberedField(6, optional: \.lastFetch),
        NumberedField(7, optional: \.fetchPlan),
        NumberedField(8, \.isFetching),
        NumberedField(9, \.lastUse),
        NumberedField(10, \.clockDifference)
    )
}

extension WakeSchedule.Plan: WireRecord {
    package static let layout = Layout(Self.init, \.time, \.reason)
}

extension WakeSchedule.Reason: WireValue {}

extension WakeSchedule.PendingTask: WireRecord {
    package static let layout = Layout(
        Self.init,
        Field(\.request),
        Field(\.plan),
        Field(\.failureCount, .number(in: 0...Int(UInt32.max))),
        Field(\.isRunning)
    )
}

extension WakeQuota.Charge: WireRecord {
    package static let layout = Layout(Self.init, \.minute, \.seconds)
}

extension WakeScore: WireRecord {
    package static let layout = Layout(
        from: Self.init,
        NumberedField(1, \.value, as: .number(in: 0.1...1)),
        NumberedField(2, \.averageSeconds, as: .number(in: 0...Double.greatestFiniteMagnitude)),
        NumberedField(3, \.failureCount, as: .number(in: 0...Int(UInt32.max)))
    )
}

extension UsageHabits: WireRecord {
    package static let layout = Layout(
        from: Self.init,
        NumberedField(1, \.workingDays, as: .bins),
        NumberedField(2, \.weekends, as: .bins),
        NumberedField(3, \.workingDayCount, as: .number()),
        NumberedField(4, \.weekendCount, as: .number()),
        NumberedField(5, optional: \.lastDay),
        NumberedField(6, \.binsOfLastDay, as: .binNumbers),
        NumberedField(7, \.observedDayCount)
    )
}

extension Layout<[Double]> {
    /// All bins of a day; another number of them is none of this version.
    fileprivate static var bins: Self {
        list(.number(), limit: UsageHabits.binCount).validated { $0.count == UsageHabits.binCount }
    }
}

extension Layout<Set<UInt8>> {
    fileprivate static var binNumbers: Self {
        Layout<[UInt8]>.bytes(limit: UsageHabits.binCount).map(to: { Set($0) }, from: { $0.sorted() })
    }
}

extension PushThrottle: WireRecord {
    package static let layout = Layout(
        from: Self.init,
        NumberedField(1, \.tokens, as: .number(in: 0...burst)),
        NumberedField(2, optional: \.lastTime),
        NumberedField(3, optional: \.waiting, as: .bytes(limit: PushPayload.lengthLimit))
    )
}

extension NotificationTable.Pending: WireRecord {
    package static let layout = Layout(Self.init, \.request, \.due, \.date)
}

extension NotificationTable.Due: WireRecord {
    package static let layout = Layout<Self>(
        Case(0, steady) { if case .steady(let time) = $0 { time } else { nil } },
        Case(1, universal) { if case .universal(let time) = $0 { time } else { nil } },
        Case(2, local) { if case .local(let time) = $0 { time } else { nil } }
    )
}

extension NotificationTable.Delivered: WireRecord {
    package static let layout = Layout(Self.init, \.request, \.number, \.date)
}
