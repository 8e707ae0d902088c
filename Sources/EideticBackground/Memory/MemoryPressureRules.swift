package import EideticCore

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

    /// Returns the time until the next reading; `nil` if the kernel's notifications suffice.
    ///
    /// They suffice in the foreground while much memory is available. The next reading is due before half of the memory
    /// above the lowest threshold is lost.
    ///
    /// - Parameters:
    ///   - availableFraction: The available fraction of memory.
    ///   - pressure: The current pressure.
    ///   - isInBackground: `true` if the application is in the background.
    ///   - lossPerSecond: The fraction of all memory that was lost per second since the last reading.
    /// - Returns: The time until the next reading.
    package static func pollInterval(
        availableFraction: Double,
        pressure: MemoryPressure,
        isInBackground: Bool,
        lossPerSecond: Double = 0
    ) -> Duration? {
        if !isInBackground, pressure == .normal, availableFraction >= 0.3 { return nil }
        let relaxed = min(1, max(0, (availableFraction - 0.04) / 0.26))
        let calm = 50 + relaxed * 950
        let pace = lossPerSecond > 0 ? max(50, (availableFraction - 0.04) / lossPerSecond * 500) : calm
        return .milliseconds(Int(min(calm, pace).rounded()))
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

    /// Returns the fraction that `part` is of `whole`, from 0 to 1; 1 if `whole` is unknown.
    package static func fraction(_ part: Int, of whole: Int) -> Double {
        whole <= 0 ? 1 : min(1, max(0, Double(part) / Double(whole)))
    }
}
