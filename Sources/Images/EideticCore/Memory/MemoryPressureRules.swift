/// The thresholds and intervals of memory pressure: rules without I/O.
package enum MemoryPressureRules {
    /// Returns the pressure for the available fraction of memory, from 0 to 1.
    package static func pressure(availableFraction: Double) -> MemoryPressure {
        switch availableFraction {
        case ..<0.04: .critical
        case ..<0.08: .urgent
        case ..<0.15: .warning
        default: .normal
        }
    }

    /// The available fractions at which the pressure is no longer normal, urgent, and critical.
    package static let thresholds = [0.15, 0.08, 0.04]

    /// The growth that is expected of a process at any time, in bytes per second: 200 MiB.
    package static let expectedGrowth = 200 << 20

    /// Returns `true` if a stall may concern this process: less than half of the memory is available.
    ///
    /// The kernel counts the stalls of all processes, and those of another group at its own limit are none of ours.
    package static func isStallOwn(availableFraction: Double) -> Bool { availableFraction < 0.5 }

    /// Returns the time until the next reading: before the pressure can be a level higher.
    ///
    /// Memory is plenty if it lasts for 10 s at 200 MiB/s: then it is read every 10 s.
    ///
    /// - Parameters:
    ///   - share: The memory at this reading.
    ///   - lossPerSecond: The bytes lost per second since the last reading; twice as much is expected.
    ///   - isAnnounced: `true` if the kernel announces the next level, so that a slow reading is enough.
    /// - Returns: 50 ms to 10 s; at most 1 s while the pressure is not normal.
    package static func readingInterval(
        for share: MemoryShare,
        lossPerSecond: Double = 0,
        isAnnounced: Bool = false
    ) -> Duration {
        let longest: Double = share.pressure == .normal ? 10_000 : 1_000
        if isAnnounced || share.limit == 0 { return .milliseconds(Int(longest)) }
        let growth = max(Double(expectedGrowth), 2 * lossPerSecond)
        return .milliseconds(Int(min(longest, max(50, Double(share.distance) / growth * 1_000))))
    }

    /// Returns the value of a line such as `MemAvailable:   123 kB` or `inactive_file 123`, in bytes.
    package static func value(named name: String, in text: String) -> Int? {
        for line in text.split(separator: "\n") {
            let words = line.split(whereSeparator: { $0 == " " || $0 == ":" })
            guard words.count >= 2, words[0] == name, let number = Int(words[1]) else { continue }
            return words.count > 2 && words[2] == "kB"
                ? number.multipliedReportingOverflow(by: 1024).partialValue : number
        }
        return nil
    }
}

/// The memory that a control group, or the machine, allows this process, in bytes.
package struct MemoryShare: Sendable, Hashable {
    /// The memory that can still be used, including reclaimable caches: 0 to `limit`.
    package let available: Int
    package let limit: Int
    /// The memory that counts against the limit, including reclaimable caches.
    package let usage: Int

    package init(available: Int, limit: Int, usage: Int) {
        self.available = min(max(0, available), max(0, limit))
        self.limit = max(0, limit)
        self.usage = usage
    }

    /// The available fraction, from 0 to 1; 1 if the limit is unknown.
    package var availableFraction: Double { limit == 0 ? 1 : Double(available) / Double(limit) }

    package var pressure: MemoryPressure { MemoryPressureRules.pressure(availableFraction: availableFraction) }

    /// The memory that can be used before the pressure is a level higher; before none is left at the highest.
    package var distance: Int {
        let next = MemoryPressureRules.thresholds.first { $0 <= availableFraction } ?? 0
        return available - Int(next * Double(limit))
    }
}
