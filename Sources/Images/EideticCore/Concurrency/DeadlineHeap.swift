/// Times at which something is looked at again, the earliest first.
///
/// A deadline that has changed is inserted again: its owner knows which one holds, and drops the others when their time
/// has come.
package struct DeadlineHeap: Sendable {
    package struct Entry: Sendable, Hashable {
        /// In nanoseconds: a duration takes 16 bytes.
        private let nanoseconds: Int64
        package let number: UInt64

        package var time: Duration { .nanoseconds(nanoseconds) }

        package init(time: Duration, number: UInt64) {
            nanoseconds = Int64(time.inNanoseconds)
            self.number = number
        }

        fileprivate func isBefore(_ other: Entry) -> Bool { nanoseconds < other.nanoseconds }
    }

    private var entries: [Entry] = []

    package init() {}

    package var first: Entry? { entries.first }

    package var count: Int { entries.count }

    package mutating func insert(_ number: UInt64, at time: Duration) {
        entries.append(Entry(time: time, number: number))
        var child = entries.count - 1
        while child > 0, case let parent = (child - 1) / 2, entries[child].isBefore(entries[parent]) {
            entries.swapAt(child, parent)
            child = parent
        }
    }

    /// Removes and returns the first entry if its time has come.
    package mutating func pop(at now: Duration) -> UInt64? {
        guard let first = entries.first, first.time <= now else { return nil }
        removeFirst()
        return first.number
    }

    /// Removes the first entry.
    ///
    /// - Precondition: There is one.
    package mutating func removeFirst() {
        let last = entries.removeLast()
        guard !entries.isEmpty else { return }
        entries[0] = last
        sink()
    }

    private mutating func sink() {
        var parent = 0
        while true {
            let children = [2 * parent + 1, 2 * parent + 2].filter { $0 < entries.count }
            guard let child = children.min(by: { entries[$0].isBefore(entries[$1]) }),
                entries[child].isBefore(entries[parent])
            else { return }
            entries.swapAt(child, parent)
            parent = child
        }
    }
}
