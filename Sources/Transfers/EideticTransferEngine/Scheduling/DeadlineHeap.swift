import EideticCore

/// Times at which transfers are looked at again, the earliest first.
struct DeadlineHeap {
    struct Entry {
        /// In nanoseconds: a duration takes 16 bytes.
        private let nanoseconds: Int64
        let number: UInt64

        var time: Duration { .nanoseconds(nanoseconds) }

        init(time: Duration, number: UInt64) {
            (nanoseconds, self.number) = (Int64(time.inNanoseconds), number)
        }

        func isBefore(_ other: Entry) -> Bool { nanoseconds < other.nanoseconds }
    }

    private var entries: [Entry] = []

    var first: Entry? { entries.first }

    mutating func insert(_ number: UInt64, at time: Duration) {
        entries.append(Entry(time: time, number: number))
        var child = entries.count - 1
        while child > 0, case let parent = (child - 1) / 2, entries[child].isBefore(entries[parent]) {
            entries.swapAt(child, parent)
            child = parent
        }
    }

    /// Removes and returns the first entry if its time has come.
    mutating func pop(at now: Duration) -> UInt64? {
        guard let first = entries.first, first.time <= now else { return nil }
        let last = entries.removeLast()
        if !entries.isEmpty {
            entries[0] = last
            sink()
        }
        return first.number
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
