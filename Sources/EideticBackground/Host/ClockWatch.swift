import CLinux
import Glibc

/// Notices that the clock was set.
struct ClockWatch {
    private var number: Int32

    init() { number = eidetic_clock_change_descriptor() }

    /// To be polled; `nil` where the kernel gives none.
    var descriptor: Int32? { number < 0 ? nil : number }

    /// Whether the clock was set since the last look; `read` then fails with `ECANCELED`.
    mutating func hasChanged() -> Bool {
        guard number >= 0 else { return false }
        var count: UInt64 = 0
        guard read(number, &count, 8) < 0, errno == ECANCELED else { return false }
        // It tells one change only.
        close(number)
        number = eidetic_clock_change_descriptor()
        return true
    }
}
