/// Encodes values for another process of this machine: little-endian integers, and lengths before their bytes.
@usableFromInline
package struct WireWriter: Sendable {
    /// The encoded bytes.
    @usableFromInline
    package var bytes: [UInt8] = []

    /// Creates an empty writer.
    @inlinable
    package init() {}

    @inlinable
    package static func encode(_ value: some WireValue) -> [UInt8] {
        var writer = WireWriter()
        writer.bytes.reserveCapacity(256)
        value.write(to: &writer)
        return writer.bytes
    }

    /// Appends an integer with its full width.
    @inlinable
    package mutating func append(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    @inlinable
    package mutating func append(_ value: Bool) { bytes.append(value ? 1 : 0) }

    /// Appends a length of 32 bits and the UTF-8 of the text.
    @inlinable
    package mutating func append(_ text: String) {
        append(UInt32(truncatingIfNeeded: text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    /// Appends a length of 32 bits and the bytes.
    @inlinable
    package mutating func append(_ blob: [UInt8]) {
        append(UInt32(truncatingIfNeeded: blob.count))
        bytes.append(contentsOf: blob)
    }

    /// Appends whole nanoseconds; more than 292 years become 292 years.
    @inlinable
    package mutating func append(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, second) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        append(overflow || second ? (seconds < 0 ? Int64.min : .max) : sum)
    }
}
