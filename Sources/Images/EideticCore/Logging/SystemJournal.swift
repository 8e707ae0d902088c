import Glibc

/// The native protocol of the systemd journal: one datagram per entry, one line per field.
///
/// - SeeAlso: https://systemd.io/JOURNAL_NATIVE_PROTOCOL/
package enum SystemJournal {
    /// Sends an entry to the socket at a path, by default the journal's; without a journal nothing is sent.
    package static func send(
        level: Log.Level,
        category: Log.Category,
        message: String,
        to address: String = "/run/systemd/journal/socket"
    ) {
        let number = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { return }
        defer { close(number) }
        var target = sockaddr_un()
        target.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &target.sun_path) { $0.copyBytes(from: address.utf8) }
        let entry = self.encodeEntry(level: level, category: category, message: message)
        withUnsafePointer(to: &target) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                _ = sendto(
                    number,
                    entry,
                    entry.count,
                    Int32(MSG_NOSIGNAL),
                    pointer,
                    socklen_t(MemoryLayout<sockaddr_un>.size)
                )
            }
        }
    }

    /// The message may contain newlines, so it is sent in the binary form: name, newline, length, bytes.
    static func encodeEntry(level: Log.Level, category: Log.Category, message: String) -> [UInt8] {
        let priority = [0, 3, 4, 6, 7][level.rawValue]
        var entry = Array("PRIORITY=\(priority)\nSYSLOG_IDENTIFIER=eidetic\nEIDETIC_PART=\(category.rawValue)\n".utf8)
        entry += Array("MESSAGE\n".utf8)
        withUnsafeBytes(of: UInt64(message.utf8.count).littleEndian) { entry += Array($0) }
        return entry + Array(message.utf8) + [UInt8(ascii: "\n")]
    }
}
