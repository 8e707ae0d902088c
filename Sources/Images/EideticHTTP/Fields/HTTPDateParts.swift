/// The parts of a date, each of which may occur once.
struct HTTPDateParts {
    private(set) var day: Int?
    private(set) var month: Int?
    private(set) var year: Int?
    /// A Boolean value indicating whether the year has two digits.
    private(set) var isYearShort = false
    /// The seconds since midnight.
    private(set) var time: Int?
    /// The seconds by which the zone is ahead of UTC.
    private(set) var offset: Int?
    private var hasDayName = false
    /// A Boolean value indicating whether the month is a number, which may be a day until a month's name follows.
    private var isMonthNumber = false

    private static let months = [
        "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
        "december",
    ]
    private static let dayNames = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
    private static let preferredPattern = Array("---, -- --- ---- --:--:-- GMT".utf8)
    private static let shortMonths = months.map { Array($0.utf8.prefix(3)) }
    private static let shortDayNames = dayNames.map { Array($0.utf8.prefix(3)) }

    /// Reads the parts of a date in any format; `nil` if one is unknown or doubled.
    init?(_ text: String) {
        for word in Self.words(of: text.lowercasedASCII) {
            let isZone = word.first == "-" || word.first == "+"
            let tokens = isZone ? [word] : word.split(separator: "-", omittingEmptySubsequences: false)
            guard tokens.allSatisfy({ add(String($0)) }) else { return nil }
        }
    }

    /// Returns the words of a date in lower case; date and time of ISO 8601 are joined by `t`, and may end with `z`.
    private static func words(of text: String) -> [Substring] {
        text.split { " \t,\"".contains($0) }.flatMap { word -> [Substring] in
            guard word.contains(":") else { return [word] }
            let time = word.hasSuffix("z") ? word.dropLast() : word
            return time.split(separator: "t", maxSplits: 1, omittingEmptySubsequences: false)
        }
    }

    /// Returns the index of a name, which may be abbreviated to three letters or more.
    private static func index(of name: String, in names: [String]) -> Int? {
        name.utf8.count < 3 ? nil : names.firstIndex { $0.hasPrefix(name) }
    }

    /// Reads a date that is written as `Sun, 06 Nov 1994 08:49:37 GMT`, as nearly all are; `nil` for any other text.
    init?(preferred text: String) {
        let bytes = Array(text.utf8)
        let pattern = Self.preferredPattern
        guard bytes.count == pattern.count, zip(bytes, pattern).allSatisfy({ $1 == UInt8(ascii: "-") || $0 == $1 })
        else { return nil }
        func index(in names: [[UInt8]], at start: Int) -> Int? {
            names.firstIndex { name in (0..<3).allSatisfy { name[$0] == bytes[start + $0] | 0x20 } }
        }
        func number(_ range: Range<Int>) -> Int? {
            bytes[range].reduce(0) { number, byte in
                number.flatMap { (48...57).contains(byte) ? 10 * $0 + Int(byte - 48) : nil }
            }
        }
        guard index(in: Self.shortDayNames, at: 0) != nil, let day = number(5..<7),
            let month = index(in: Self.shortMonths, at: 8), let year = number(12..<16),
            let hours = number(17..<19), let minutes = number(20..<22), let seconds = number(23..<25),
            let time = Self.seconds(hours: hours, minutes: minutes, seconds: seconds)
        else { return nil }
        self.day = day
        self.month = month + 1
        self.year = year
        self.time = time
    }

    /// Adds a part in lower case; returns `false` if it is unknown, or there is one of its kind.
    mutating func add(_ token: String) -> Bool {
        if let number = token.httpInteger { return add(number, digits: token.utf8.count) }
        if token.contains(":") { return Self.set(&time, to: Self.seconds(ofTime: token)) }
        if let index = Self.index(of: token, in: Self.months) { return add(month: index + 1) }
        if ["gmt", "utc", "ut", "z"].contains(token) { return Self.set(&offset, to: 0) }
        if token.hasPrefix("+") || token.hasPrefix("-") { return Self.set(&offset, to: Self.seconds(ofZone: token)) }
        guard !hasDayName, Self.index(of: token, in: Self.dayNames) != nil else { return false }
        hasDayName = true
        return true
    }

    private mutating func add(month number: Int) -> Bool {
        if isMonthNumber, day == nil { swap(&day, &month) }
        return Self.set(&month, to: number)
    }

    /// Adds a day, which comes before a year of two digits, or a year, or the number of a month that follows a year.
    private mutating func add(_ number: Int, digits: Int) -> Bool {
        if digits == 2, year != nil, month == nil, day == nil {
            isMonthNumber = true
            return Self.set(&month, to: number)
        }
        if digits <= 2, day == nil { return Self.set(&day, to: number) }
        isYearShort = digits == 2
        return Self.set(&year, to: digits == 2 || digits == 4 ? number : nil)
    }

    private static func set(_ part: inout Int?, to value: Int?) -> Bool {
        guard part == nil, let value else { return false }
        part = value
        return true
    }

    private static func seconds(ofTime text: String) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        let numbers = parts.compactMap(\.httpInteger)
        guard numbers.count == parts.count, (2...3).contains(parts.count), parts[0].utf8.count <= 2,
            parts[1...].allSatisfy({ $0.utf8.count == 2 })
        else { return nil }
        return seconds(hours: numbers[0], minutes: numbers[1], seconds: numbers.count == 3 ? numbers[2] : 0)
    }

    private static func seconds(hours: Int, minutes: Int, seconds: Int) -> Int? {
        // 60 is a leap second.
        hours < 24 && minutes < 60 && seconds <= 60 ? hours * 3_600 + minutes * 60 + seconds : nil
    }

    private static func seconds(ofZone text: String) -> Int? {
        guard text.utf8.count == 5, let number = String(text.dropFirst()).httpInteger, number % 100 < 60 else {
            return nil
        }
        return (number / 100 * 3_600 + number % 100 * 60) * (text.hasPrefix("-") ? -1 : 1)
    }
}
