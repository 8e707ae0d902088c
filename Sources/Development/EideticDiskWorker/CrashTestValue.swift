/// The only valid value of a key and a version, so that every byte read can be checked.
package enum CrashTestValue {
    package static func bytes(key: Int, version: UInt32) -> [UInt8] {
        var generator = SeededGenerator(seed: UInt64(key) << 32 | UInt64(version))
        let size = version % 7 == 0 ? Int(generator.next() % 200_000) : Int(generator.next() % 9_000)
        return (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 131 ^ key ^ Int(version) &* 7) }
    }

    package static func key(_ number: Int) -> String { "https://example.org/\(number).jpeg" }
}
