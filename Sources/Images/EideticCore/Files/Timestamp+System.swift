import Glibc

extension Timestamp {
    init(_ time: timespec) { self = Timestamp(seconds: Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec)) }

    var timespec: timespec {
        let seconds = self.seconds
        return Glibc.timespec(tv_sec: Int(seconds), tv_nsec: Int(nanoseconds &- seconds &* 1_000_000_000))
    }
}
