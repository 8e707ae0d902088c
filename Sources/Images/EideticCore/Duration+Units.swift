extension Duration {
    /// The duration in nanoseconds, clamped to 64 bits.
    package var inNanoseconds: Int64 {
        let (whole, overflow) = components.seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return components.seconds < 0 ? .min : .max }
        let (sum, sumOverflow) = whole.addingReportingOverflow(components.attoseconds / 1_000_000_000)
        return sumOverflow ? (components.seconds < 0 ? .min : .max) : sum
    }

    /// The duration in milliseconds, with fractions.
    package var inMilliseconds: Double { Double(inNanoseconds) / 1e6 }

    /// The duration with one decimal, as in `12.3 ms`.
    package var millisecondText: String {
        let tenths = Int((inMilliseconds * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) ms"
    }

    /// The duration in seconds, with fractions.
    package var inSeconds: Double { Double(inNanoseconds) / 1e9 }
}
