/// An entry that a process of a test writes into a shared cache: its bytes follow from its name and version.
package struct CacheEntry: Sendable {
    package let writer: String
    package let number: Int
    package let version: UInt64

    package init(writer: String, number: Int, version: UInt64) {
        self.writer = writer
        self.number = number
        self.version = version
    }

    package var key: String { "\(writer) \(number)" }

    /// Between 1 and 20 KB, beginning with the version.
    package var bytes: [UInt8] {
        var state = version &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(number)
        let body = (0..<(1_000 + 75 * number)).map { _ -> UInt8 in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 56)
        }
        return withUnsafeBytes(of: version.littleEndian) { Array($0) } + body
    }

    /// The version at the beginning of an entry's bytes.
    package static func version(in bytes: [UInt8]) -> UInt64 {
        bytes.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
