/// A number of bytes.
public struct ByteCount: Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral {
    /// The number of bytes; never negative for a size.
    public var bytes: Int

    /// Creates a count of `bytes`.
    public init(_ bytes: Int) { self.bytes = bytes }

    /// Creates a count from a literal number of bytes.
    public init(integerLiteral value: Int) { bytes = value }

    package static let zero = ByteCount(0)

    /// Returns a count of `count` times 1,024 bytes.
    public static func kibibytes(_ count: Int) -> ByteCount { ByteCount(count << 10) }

    /// Returns a count of `count` times 1,048,576 bytes.
    public static func mebibytes(_ count: Int) -> ByteCount { ByteCount(count << 20) }

    /// Returns `true` if the first count is smaller than the second.
    public static func < (left: ByteCount, right: ByteCount) -> Bool { left.bytes < right.bytes }

    package static func + (left: ByteCount, right: ByteCount) -> ByteCount { ByteCount(left.bytes + right.bytes) }

    package static func - (left: ByteCount, right: ByteCount) -> ByteCount { ByteCount(left.bytes - right.bytes) }
}

extension ByteCount: CustomStringConvertible {
    /// The size as readable text, in units of 1,000: `999 bytes`, `20.5 KB`, `4.2 MB`.
    public var description: String {
        var value = Double(bytes)
        guard abs(value) >= 1_000 else { return bytes == 1 ? "1 byte" : "\(bytes) bytes" }
        var unit = -1
        let units = ["KB", "MB", "GB", "TB", "PB", "EB"]
        while abs(value) >= 999.95, unit < units.count - 1 {
            value /= 1_000
            unit += 1
        }
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(abs(tenths % 10)) \(units[max(0, unit)])"
    }

    /// Creates a count from a size as people write it: `200`, `64K`, `20MB`, `1.5GiB`.
    ///
    /// `K`, `M`, `G`, `T` and `KiB` … are units of 1,024; `KB`, `MB`, `GB`, `TB` are units of 1,000. Case is ignored.
    ///
    /// - Returns: `nil` if the text is not such a size, is negative, or exceeds 2⁶².
    package init?(parsing text: String) {
        let digits = text.prefix { $0.isNumber || $0 == "." }
        let unit = text.dropFirst(digits.count).lowercased().filter { $0 != " " }
        let powers: [String: Double] = [
            "": 1, "b": 1, "k": 0x1p10, "kib": 0x1p10, "kb": 1e3, "m": 0x1p20, "mib": 0x1p20, "mb": 1e6,
            "g": 0x1p30, "gib": 0x1p30, "gb": 1e9, "t": 0x1p40, "tib": 0x1p40, "tb": 1e12,
        ]
        guard let number = Double(digits), let power = powers[unit], number * power < 0x1p62 else { return nil }
        bytes = Int(number * power)
    }
}
