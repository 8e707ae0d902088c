package import EideticCore

/// How much memory there is, and when that is little: rules without I/O.
package enum MemoryPressureRules {
    /// The pressure for a part of the memory that is available, from 0 to 1.
    package static func pressure(availableFraction: Double) -> MemoryPressure {
        switch availableFraction {
        case ..<0.04: .critical
        case ..<0.08: .urgent
        case ..<0.15: .warning
        default: .normal
        }
    }

    /// When to look again; `nil`, never, while it is seen and plenty is available: then the kernel calls.
    ///
    /// `loss` is the part of all memory that was lost each second since the last look: at that pace there is to be
    /// another look before half of the way to the lowest mark is gone.
    package static func pollInterval(
        availableFraction: Double,
        pressure: MemoryPressure,
        isInBackground: Bool,
        lossPerSecond: Double = 0
    ) -> Duration? {
        if !isInBackground, pressure == .normal, availableFraction >= 0.3 { return nil }
        let part = min(1, max(0, (availableFraction - 0.04) / 0.26))
        let calm = 50 + part * 950
        let pace = lossPerSecond > 0 ? max(50, (availableFraction - 0.04) / lossPerSecond * 500) : calm
        return .milliseconds(Int(min(calm, pace).rounded()))
    }

    /// The value of a line like `MemAvailable:   123 kB` or `inactive_file 123`, in bytes.
    package static func value(named name: String, in text: String) -> Int? {
        for line in text.split(separator: "\n") {
            let words = line.split(whereSeparator: { $0 == " " || $0 == ":" })
            guard words.count >= 2, words[0] == name, let number = Int(words[1]) else { continue }
            return words.count > 2 && words[2] == "kB"
                ? number.multipliedReportingOverflow(by: 1024).partialValue : number
        }
        return nil
    }

    /// The part of a whole that is available; 1 where the whole is not known.
    package static func fraction(_ part: Int, of whole: Int) -> Double {
        whole <= 0 ? 1 : min(1, max(0, Double(part) / Double(whole)))
    }
}
