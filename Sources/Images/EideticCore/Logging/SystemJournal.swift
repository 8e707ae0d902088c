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
        LocalAddress(path: address)?.send(encodeEntry(level: level, category: category, message: message))
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
