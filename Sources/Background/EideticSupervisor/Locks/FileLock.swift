/// A line of `/proc/locks`, or of the locks in `/proc/PID/fdinfo/FD`.
///
/// - SeeAlso: proc_locks(5)
package struct FileLock: Sendable, Hashable {
    /// The kind and mode, the file and the range, which are the same in both lists.
    package struct Key: Sendable, Hashable {
        /// "POSIX", "FLOCK", "OFDLCK" or "LEASE".
        package let kind: String
        package let mode: String
        /// The device and the inode.
        package let file: String
        package let start: UInt64
        /// The last byte; `nil` for the end of the file.
        package let end: UInt64?
    }

    package let key: Key
    /// The process; -1 for a lock that belongs to an open file.
    package let process: Int32
    /// A Boolean value indicating whether a process waits for the lock.
    package let isWaiting: Bool

    /// Parses a line such as `1: -> POSIX  ADVISORY  WRITE 812 fe:00:1622 0 EOF`; `nil` if it is none.
    package init?(line: Substring) {
        // By bytes: the list is parsed at each suspension.
        var fields = line.utf8.split { $0 == 32 || $0 == 9 }.map { String(Substring($0)) }
        if fields.first == "lock:" { fields.removeFirst() }
        guard fields.first?.last == ":" else { return nil }
        fields.removeFirst()
        isWaiting = fields.first == "->"
        if isWaiting { fields.removeFirst() }
        guard fields.count >= 7, let process = Int32(fields[3]), let start = UInt64(fields[5]) else { return nil }
        self.process = process
        key = Key(kind: fields[0], mode: fields[2], file: fields[4], start: start, end: UInt64(fields[6]))
    }

    /// Returns the locks that are held, by the text of `/proc/locks`.
    static func all(in text: String) -> [Key] {
        lines(of: text).compactMap { FileLock(line: $0) }.filter { !$0.isWaiting }.map(\.key)
    }

    /// Returns the held locks for which a process waits, by the text of `/proc/locks`.
    ///
    /// Each waiter follows the lock that it waits for.
    package static func contended(in text: String) -> Set<Key> {
        var held: Key?
        var contended: Set<Key> = []
        for line in lines(of: text) {
            guard let lock = FileLock(line: line) else { continue }
            if !lock.isWaiting {
                held = lock.key
            } else if let held {
                contended.insert(held)
            }
        }
        return contended
    }

    private static func lines(of text: String) -> [Substring] { text.utf8.split(separator: 10).map { Substring($0) } }
}
