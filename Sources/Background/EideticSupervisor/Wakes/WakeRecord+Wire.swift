package import EideticCore
package import EideticLifecycle
import EideticSupervision

// Fields with numbers, which never change.
extension WakeRecord: WireEncodable, WireDecodable {
    private static let version: UInt8 = 1

    package func write(to writer: inout WireWriter) {
        writer.append(Self.version)
        writer.append(field: 1) { $0.append(optional: program) { $0.append($1) } }
        writer.append(field: 2) { $0.append(schedule) }
        writer.append(field: 3) { $0.append(list: notifications.pending) { $0.append($1) } }
        writer.append(field: 4) { $0.append(list: notifications.delivered) { $0.append($1) } }
        writer.append(field: 5) { $0.append(notifications.badge) }
        writer.append(field: 6) { $0.append(throttle) }
        writer.append(field: 7) { $0.append(optional: messageToken) { $0.append($1) } }
        writer.append(field: 8) { $0.append(optional: messageAddress) { $0.append($1) } }
        writer.append(field: 9) { $0.append(wantsLocation) }
        writer.append(field: 10) { $0.append(wasForceQuit) }
        writer.append(field: 11) { $0.append(crashes) }
    }

    package init(from reader: inout WireReader) throws(WireError) {
        let version = try reader.integer(UInt8.self)
        guard version == Self.version else { throw .unknownCase(type: "WakeRecord", value: UInt64(version)) }
        var fields = try RecordFields(from: &reader)
        let empty = WakeSchedule(at: ScheduleTime(steady: 0, local: 0))
        self.init(
            schedule: try fields.take(2, or: empty) { (reader) throws(WireError) in try WakeSchedule(from: &reader) }
        )
        program = try fields.take(1, or: nil) { (reader) throws(WireError) in
            try reader.optional { (reader) throws(WireError) in try ProgramDescription(from: &reader) }
        }
        notifications.pending = try fields.take(3, or: []) { (reader) throws(WireError) in
            try reader.list { (reader) throws(WireError) in try NotificationTable.Pending(from: &reader) }
        }
        notifications.delivered = try fields.take(4, or: []) { (reader) throws(WireError) in
            try reader.list { (reader) throws(WireError) in try NotificationTable.Delivered(from: &reader) }
        }
        notifications.badge = try fields.take(5, or: 0) { (reader) throws(WireError) in try reader.integer() }
        throttle = try fields.take(6, or: PushThrottle()) { (reader) throws(WireError) in
            try PushThrottle(from: &reader)
        }
        messageToken = try fields.take(7, or: nil) { (reader) throws(WireError) in try reader.optionalText() }
        messageAddress = try fields.take(8, or: nil) { (reader) throws(WireError) in try reader.optionalText() }
        wantsLocation = try fields.take(9, or: false) { (reader) throws(WireError) in try reader.boolean() }
        wasForceQuit = try fields.take(10, or: false) { (reader) throws(WireError) in try reader.boolean() }
        crashes = try fields.take(11, or: WakeCrashes()) { (reader) throws(WireError) in try WakeCrashes(from: &reader)
        }
    }
}

extension WakeCrashes: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        writer.append(list: counts.sorted { $0.key.rawValue < $1.key.rawValue }) {
            $0.append($1.key.rawValue)
            $0.append($1.value)
        }
        writer.append(time)
        writer.append(optional: program) { writer, program in
            writer.append(program.inode)
            writer.append(program.modificationTime)
        }
    }

    package init(from reader: inout WireReader) throws(WireError) {
        let counts = try reader.list { (reader) throws(WireError) in
            (try reader.enumeration(WakeReason.Kind.self), try reader.integer(UInt32.self))
        }
        self.init(counts: Dictionary(counts) { max($0, $1) }, time: try reader.integer())
        program = try reader.optional { (reader) throws(WireError) in
            ProgramFile(inode: try reader.integer(), modificationTime: try reader.integer())
        }
    }
}

extension WakeSchedule: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        writer.append(field: 1) { $0.append(fetchInterval) }
        writer.append(field: 2) { $0.append(habits) }
        writer.append(field: 3) { writer in
            writer.append(list: quota.charges) {
                $0.append($1.minute)
                $0.append($1.seconds)
            }
        }
        writer.append(field: 4) { writer in
            writer.append(score.value.bitPattern)
            writer.append(score.averageSeconds.bitPattern)
            writer.append(UInt32(clamping: score.failureCount))
        }
        writer.append(field: 5) { $0.append(list: tasks) { $0.append($1) } }
        writer.append(field: 6) { $0.append(optional: lastFetch) { $0.append($1) } }
        writer.append(field: 7) { $0.append(optional: fetchPlan) { $0.append($1) } }
        writer.append(field: 8) { $0.append(isFetching) }
        writer.append(field: 9) { $0.append(lastUse) }
        writer.append(field: 10) { $0.append(clockDifference) }
    }

    package init(from reader: inout WireReader) throws(WireError) {
        var fields = try RecordFields(from: &reader)
        self.init(at: ScheduleTime(steady: 0, local: 0))
        fetchInterval = try fields.take(1, or: .never) { (reader) throws(WireError) in
            try FetchInterval(from: &reader)
        }
        habits = try fields.take(2, or: UsageHabits()) { (reader) throws(WireError) in try UsageHabits(from: &reader) }
        quota.charges = try fields.take(3, or: []) { (reader) throws(WireError) in
            try reader.list(limit: 4_096) { (reader) throws(WireError) in
                WakeQuota.Charge(minute: try reader.integer(), seconds: try reader.integer())
            }
        }
        score = try fields.take(4, or: WakeScore()) { (reader) throws(WireError) in
            var score = WakeScore()
            score.value = min(1, max(0.1, try reader.number()))
            score.averageSeconds = max(0, try reader.number())
            score.failureCount = Int(try reader.integer(UInt32.self))
            return score
        }
        tasks = try fields.take(5, or: []) { (reader) throws(WireError) in
            try reader.list(limit: 64) { (reader) throws(WireError) in try PendingTask(from: &reader) }
        }
        lastFetch = try fields.take(6, or: nil) { (reader) throws(WireError) in
            try reader.optional { (reader) throws(WireError) in try reader.integer() }
        }
        fetchPlan = try fields.take(7, or: nil) { (reader) throws(WireError) in
            try reader.optional { (reader) throws(WireError) in try Plan(from: &reader) }
        }
        isFetching = try fields.take(8, or: false) { (reader) throws(WireError) in try reader.boolean() }
        lastUse = try fields.take(9, or: 0) { (reader) throws(WireError) in try reader.integer() }
        clockDifference = try fields.take(10, or: 0) { (reader) throws(WireError) in try reader.integer() }
    }
}

extension WakeSchedule.Plan: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        writer.append(time)
        writer.append(reason.rawValue)
    }

    package init(from reader: inout WireReader) throws(WireError) {
        self.init(time: try reader.integer(), reason: try reader.enumeration(WakeSchedule.Reason.self))
    }
}

extension WakeSchedule.PendingTask: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        writer.append(request)
        writer.append(plan)
        writer.append(UInt32(clamping: failureCount))
        writer.append(isRunning)
    }

    package init(from reader: inout WireReader) throws(WireError) {
        self.init(request: try TaskRequest(from: &reader), plan: try WakeSchedule.Plan(from: &reader))
        failureCount = Int(try reader.integer(UInt32.self))
        isRunning = try reader.boolean()
    }
}

extension UsageHabits: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        for bins in [workingDays, weekends] { writer.append(list: bins) { $0.append($1.bitPattern) } }
        writer.append(workingDayCount.bitPattern)
        writer.append(weekendCount.bitPattern)
        writer.append(optional: lastDay) { $0.append($1) }
        writer.append(list: binsOfLastDay.sorted()) { $0.append($1) }
        writer.append(observedDayCount)
    }

    package init(from reader: inout WireReader) throws(WireError) {
        self.init()
        workingDays = try Self.bins(from: &reader)
        weekends = try Self.bins(from: &reader)
        (workingDayCount, weekendCount) = (try reader.number(), try reader.number())
        lastDay = try reader.optional { (reader) throws(WireError) in try reader.integer() }
        binsOfLastDay = Set(
            try reader.list(limit: Self.binCount) { (reader) throws(WireError) in try reader.integer(UInt8.self) }
        )
        observedDayCount = try reader.integer()
    }

    /// Reads all bins; another number of them is none of this version.
    private static func bins(from reader: inout WireReader) throws(WireError) -> [Double] {
        let bins = try reader.list(limit: binCount) { (reader) throws(WireError) in try reader.number() }
        guard bins.count == binCount else { throw .unknownCase(type: "UsageHabits", value: UInt64(bins.count)) }
        return bins
    }
}

extension PushThrottle: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        writer.append(tokens.bitPattern)
        writer.append(optional: lastTime) { $0.append($1) }
        writer.append(optional: waiting) { $0.append($1) }
    }

    package init(from reader: inout WireReader) throws(WireError) {
        self.init()
        tokens = min(Self.burst, max(0, try reader.number()))
        lastTime = try reader.optional { (reader) throws(WireError) in try reader.integer() }
        waiting = try reader.optional { (reader) throws(WireError) in try reader.blob(limit: PushPayload.lengthLimit) }
    }
}

extension NotificationTable.Pending: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        writer.append(request)
        switch due {
        case .steady(let time): Self.write(0, time: time, to: &writer)
        case .universal(let time): Self.write(1, time: time, to: &writer)
        case .local(let time): Self.write(2, time: time, to: &writer)
        }
        writer.append(optional: date) { $0.append($1) }
    }

    private static func write(_ kind: UInt8, time: Int64, to writer: inout WireWriter) {
        writer.append(kind)
        writer.append(time)
    }

    package init(from reader: inout WireReader) throws(WireError) {
        let request = try NotificationRequest(from: &reader)
        let kind = try reader.integer(UInt8.self)
        let time = try reader.integer(Int64.self)
        let date = try reader.optional { (reader) throws(WireError) in try reader.integer(Int64.self) }
        switch kind {
        case 0: self.init(request: request, due: .steady(time), date: date)
        case 1: self.init(request: request, due: .universal(time), date: date)
        case 2: self.init(request: request, due: .local(time), date: date)
        default: throw .unknownCase(type: "Due", value: UInt64(kind))
        }
    }
}

extension NotificationTable.Delivered: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        writer.append(request)
        writer.append(number)
        writer.append(date)
    }

    package init(from reader: inout WireReader) throws(WireError) {
        let request = try NotificationRequest(from: &reader)
        self.init(request: request, number: try reader.integer(), date: try reader.integer())
    }
}

extension WireReader {
    /// Reads a finite number of 64 bits.
    fileprivate mutating func number() throws(WireError) -> Double {
        let number = Double(bitPattern: try integer())
        guard number.isFinite else { throw .unknownCase(type: "Double", value: number.bitPattern) }
        return number
    }

    fileprivate mutating func optionalText() throws(WireError) -> String? {
        try optional { (reader) throws(WireError) in try reader.text(limit: SupervisionProtocol.pathLimit) }
    }
}
