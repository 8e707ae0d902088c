import CLinux
import Glibc

/// A source of notices that the clock was set.
struct ClockChangeSource: NoticeSource {
    private(set) var descriptor: Int32

    /// Opens the descriptor; `nil` if the kernel has none.
    init?() {
        descriptor = eidetic_open_clock_change()
        if descriptor < 0 { return nil }
    }

    /// Returns a notice if the clock was set since the last call; `read` then fails with `ECANCELED`.
    mutating func read() -> [Notice] {
        var count: UInt64 = 0
        guard Glibc.read(descriptor, &count, 8) < 0, errno == ECANCELED else { return [] }
        // The descriptor reports one change only.
        close(descriptor)
        descriptor = eidetic_open_clock_change()
        return [Notice(.clockChanged)]
    }
}
