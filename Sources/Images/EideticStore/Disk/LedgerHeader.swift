import EideticCore

/// The first 64 bytes of a ledger: magic number, salt, boot identifier, checksum.
struct LedgerHeader {
    static let magic: UInt64 = 0x01_52_45_47_44_45_4c_45
    let salt: UInt64
    let bootIdentifier: UInt64

    init(salt: UInt64, bootIdentifier: UInt64) {
        self.salt = salt
        self.bootIdentifier = bootIdentifier
    }

    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= LedgerRecord.size, bytes.number(UInt64.self, at: 0) == Self.magic,
            Checksum.value(of: UnsafeRawBufferPointer(rebasing: bytes[..<56])) == bytes.number(UInt64.self, at: 56)
        else { return nil }
        salt = bytes.number(UInt64.self, at: 8)
        bootIdentifier = bytes.number(UInt64.self, at: 16)
    }

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        for number in [Self.magic, salt, bootIdentifier, 0, 0, 0, 0] { bytes.append(number) }
        bytes.append(bytes.withUnsafeBytes { Checksum.value(of: $0) })
        return bytes
    }
}
