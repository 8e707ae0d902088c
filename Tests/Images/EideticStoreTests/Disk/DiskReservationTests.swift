import EideticCore
import EideticStore
import EideticTestSupport
import Glibc
import Testing

@Suite("Disk cache: reservations of running writes")
struct DiskReservationTests {
    private static let availableSize = 10 * 4_096

    @Test("C10 C19 the reservation of the largest file survives a rewrite of the ledger while its writer lives")
    func survivesRewriting() throws {
        let fixture = try DiskFixture { $0.sizeLimit = ByteCount(1 << 32 + Self.availableSize) }
        var writer: DiskCache? = try fixture.secondCache()
        try writer?.blocking.insert([1], for: "of the writer")
        try reserveLargestFile(ledgerPath: "\(fixture.cache.configuration.directory)/ledger")
        try fixture.cache.blocking.removeAll()
        let other = try fixture.secondCache()
        for number in 0..<30 {
            try other.blocking.insert([1], for: "\(number)")
            #expect(try fixture.measuredUsage().allocatedSize.bytes <= Self.availableSize)
        }
        withExtendedLifetime(writer) {}
        writer = nil
        for number in 0..<30 { try other.blocking.insert([1], for: "\(number)") }
        #expect(try fixture.measuredUsage().entryCount == 30)
    }

    /// Appends the record by which the ledger's latest writer reserves 4 GiB less a byte.
    private func reserveLargestFile(ledgerPath: String) throws {
        let files = FileSystem()
        let old = try files.contents(of: ledgerPath)
        let (salt, latest) = (old[8..<16], old.suffix(64))
        let writer = Array(latest)[24..<32]
        var record: [UInt8] = [1, 0, 0, 1] + [UInt8](repeating: 0xff, count: 4) + [UInt8](repeating: 7, count: 16)
        // Another writer number of the same instance.
        record += [writer.first.map { $0 ^ 0x80 } ?? 0] + writer.dropFirst()
        record += [UInt8](repeating: 0xff, count: 4) + [0, 0, 0, 0] + salt + [UInt8](repeating: 0, count: 8)
        let sum = record.withUnsafeBytes { Checksum.value(of: $0) }
        record += (0..<8).map { UInt8(truncatingIfNeeded: sum >> UInt64(8 * $0)) }
        let file = try files.open(ledgerPath, flags: O_WRONLY)
        try record.withUnsafeBufferPointer { bytes throws(SystemError) in
            try files.write(UnsafeRawBufferPointer(bytes), to: file, at: old.count)
        }
    }
}
