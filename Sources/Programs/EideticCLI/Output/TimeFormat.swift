package import EideticCore
import Glibc

/// The text form of durations and dates.
package enum TimeFormat {
    /// Returns a duration such as `870 ms`, `2.4 s`, `3:05` or `1:02:45`.
    package static func text(for duration: Duration) -> String {
        let milliseconds = duration.inMilliseconds
        if milliseconds < 999.5 { return "\(Int(milliseconds.rounded())) ms" }
        let seconds = milliseconds / 1_000
        if seconds < 59.95 {
            let tenths = Int((seconds * 10).rounded())
            return "\(tenths / 10).\(tenths % 10) s"
        }
        return clock(for: duration)
    }

    /// Returns a duration such as `0:07`, `3:05` or `1:02:45`.
    package static func clock(for duration: Duration) -> String {
        let seconds = Int(min(max(0, duration.inSeconds.rounded()), 359_999))
        let tail = twoDigits(seconds % 60)
        guard seconds >= 3_600 else { return "\(seconds / 60):\(tail)" }
        return "\(seconds / 3_600):\(twoDigits(seconds / 60 % 60)):\(tail)"
    }

    /// Returns a date in the form `2026-11-21T14:30:05Z`.
    package static func date(for moment: Timestamp) -> String {
        var seconds = time_t(moment.seconds)
        var parts = tm()
        guard gmtime_r(&seconds, &parts) != nil else { return "\(moment.seconds)" }
        let day = "\(Int(parts.tm_year) + 1900)-\(twoDigits(Int(parts.tm_mon) + 1))-\(twoDigits(Int(parts.tm_mday)))"
        return
            "\(day)T\(twoDigits(Int(parts.tm_hour))):\(twoDigits(Int(parts.tm_min))):\(twoDigits(Int(parts.tm_sec)))Z"
    }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
