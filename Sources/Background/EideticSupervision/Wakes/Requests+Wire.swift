package import EideticCore
package import EideticLifecycle

extension FetchInterval: WireEncodable, WireDecodable {
    private enum Kind: UInt8 {
        case never = 1
        case minimum, seconds
    }

    package func write(to writer: inout WireWriter) {
        switch self {
        case .never: writer.append(Kind.never.rawValue)
        case .minimum: writer.append(Kind.minimum.rawValue)
        case .seconds(let seconds):
            writer.append(Kind.seconds.rawValue)
            writer.append(seconds)
        }
    }

    package init(from reader: inout WireReader) throws(WireError) {
        switch try reader.enumeration(Kind.self) {
        case .never: self = .never
        case .minimum: self = .minimum
        case .seconds: self = .seconds(try reader.integer())
        }
    }
}

extension TaskRequest: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        writer.append(kind.rawValue)
        writer.append(identifier)
        writer.append(optional: earliestBegin) { $0.append($1) }
        writer.append(constraints.needsNetwork)
        writer.append(constraints.needsExternalPower)
        writer.append(constraints.needsIdle)
    }

    package init(from reader: inout WireReader) throws(WireError) {
        let kind = try reader.enumeration(Kind.self)
        self.init(kind, identifier: try reader.text(limit: Self.identifierLimit))
        earliestBegin = try reader.optional { (reader) throws(WireError) in try reader.integer() }
        constraints.needsNetwork = try reader.boolean()
        constraints.needsExternalPower = try reader.boolean()
        constraints.needsIdle = try reader.boolean()
    }
}

extension NotificationRequest: WireEncodable, WireDecodable {
    private enum TriggerKind: UInt8 {
        case now = 1
        case interval, repeatingInterval, date, daily, weekly
    }

    package func write(to writer: inout WireWriter) {
        for text in [identifier, content.title, content.body, content.userInfo] { writer.append(text) }
        switch content.sound {
        case .none: writer.append(UInt8(0))
        case .standard: writer.append(UInt8(1))
        case .named(let name):
            writer.append(UInt8(2))
            writer.append(name)
        }
        writer.append(optional: content.badge) { $0.append($1) }
        switch trigger {
        case .now: Self.write(.now, time: 0, to: &writer)
        case .interval(let seconds, let repeats):
            Self.write(repeats ? .repeatingInterval : .interval, time: seconds, to: &writer)
        case .date(let time): Self.write(.date, time: time, to: &writer)
        case .daily(let second, let weekday):
            Self.write(weekday == nil ? .daily : .weekly, time: second, to: &writer)
            if let weekday { writer.append(weekday) }
        }
    }

    private static func write(_ kind: TriggerKind, time: Int64, to writer: inout WireWriter) {
        writer.append(kind.rawValue)
        writer.append(time)
    }

    package init(from reader: inout WireReader) throws(WireError) {
        let identifier = try reader.text(limit: Self.identifierLimit)
        var content = Content()
        content.title = try reader.text(limit: Self.textLimit)
        content.body = try reader.text(limit: Self.textLimit)
        content.userInfo = try reader.text(limit: Self.textLimit)
        switch try reader.integer(UInt8.self) {
        case 0: content.sound = .none
        case 1: content.sound = .standard
        case 2: content.sound = .named(try reader.text(limit: Self.textLimit))
        case let number: throw .unknownCase(type: "Sound", value: UInt64(number))
        }
        content.badge = try reader.optional { (reader) throws(WireError) in try reader.integer() }
        self.init(identifier: identifier, content: content)
        let kind = try reader.enumeration(TriggerKind.self)
        let time = try reader.integer(Int64.self)
        switch kind {
        case .now: trigger = .now
        case .interval: trigger = .interval(time, repeats: false)
        case .repeatingInterval: trigger = .interval(time, repeats: true)
        case .date: trigger = .date(time)
        case .daily: trigger = .daily(second: time, weekday: nil)
        case .weekly: trigger = .daily(second: time, weekday: try reader.integer())
        }
    }
}
