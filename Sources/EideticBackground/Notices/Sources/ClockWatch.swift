import CLinux
import Glibc

/// Notices that the clock was set.
struct ClockChangeSource: NoticeSource {
    private(set) var descriptor: Int32

    /// `nil` where the kernel gives no such descriptor.
    init?() {
        descriptor = eidetic_clock_change_descriptor()
        if descriptor < 0 { return nil }
    }

    /// `read` fails with `ECANCELED` where the clock was set since the last look.
    mutating func read() -> [Notice] {
        var count: UInt64 = 0
        guard Glibc.read(descriptor, &count, 8) < 0, errno == ECANCELED else { return [] }
        // It tells one change only.
        close(descriptor)
        descriptor = eidetic_clock_change_descriptor()
        return [Notice(.clockChanged)]
    }
}
