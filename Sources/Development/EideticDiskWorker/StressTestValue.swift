/// The only valid value of a key and a version; it contains the version.
enum StressTestValue {
    static func key(_ number: Int) -> String { "https://example.org/storm/\(number).webp" }

    static func bytes(key: Int, version: UInt32) -> [UInt8] {
        var generator = SeededGenerator(seed: UInt64(key) << 32 | UInt64(version))
        let size = Int(generator.next() % (version % 16 == 0 ? 60_000 : 4_000))
        var bytes: [UInt8] = (0..<4).map { UInt8(truncatingIfNeeded: version >> UInt32(8 * $0)) }
        bytes += (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 37 ^ key ^ Int(version) &* 11) }
        return bytes
    }

    static func isValue(_ value: [UInt8], of key: Int) -> Bool {
        guard value.count >= 4 else { return false }
        let version = value.prefix(4).enumerated().reduce(UInt32(0)) {
            $0 | UInt32($1.element) << UInt32(8 * $1.offset)
        }
        return value == bytes(key: key, version: version)
    }
}
