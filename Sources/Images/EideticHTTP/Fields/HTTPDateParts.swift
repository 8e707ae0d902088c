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

    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
    private static let dayNames = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

    /// Adds a part in lower case; returns `false` if it is unknown, or there is one of its kind.
    mutating func add(_ token: String) -> Bool {
        if let number = token.httpInteger { return add(number, digits: token.utf8.count) }
        if token.contains(":") { return Self.set(&time, to: Self.seconds(ofTime: token)) }
        if let index = Self.months.firstIndex(of: token) { return Self.set(&month, to: index + 1) }
        if ["gmt", "utc", "ut", "z"].contains(token) { return Self.set(&offset, to: 0) }
        if token.hasPrefix("+") || token.hasPrefix("-") { return Self.set(&offset, to: Self.seconds(ofZone: token)) }
        guard !hasDayName, Self.dayNames.contains(where: { $0 == token || $0.prefix(3) == token }) else { return false }
        hasDayName = true
        return true
    }

    /// Adds a day, which comes before a year of two digits, or a year.
    private mutating func add(_ number: Int, digits: Int) -> Bool {
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
        guard numbers.count == 3, parts.count == 3, parts[0].utf8.count <= 2,
            parts[1...].allSatisfy({ $0.utf8.count == 2 })
        else { return nil }
        // 60 is a leap second.
        guard numbers[0] < 24, numbers[1] < 60, numbers[2] <= 60 else { return nil }
        return numbers[0] * 3_600 + numbers[1] * 60 + numbers[2]
    }

    private static func seconds(ofZone text: String) -> Int? {
        guard text.utf8.count == 5, let number = String(text.dropFirst()).httpInteger, number % 100 < 60 else {
            return nil
        }
        return (number / 100 * 3_600 + number % 100 * 60) * (text.hasPrefix("-") ? -1 : 1)
    }
}
