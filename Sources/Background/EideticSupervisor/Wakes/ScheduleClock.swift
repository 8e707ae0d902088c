import EideticCore
import EideticLifecycle
import Glibc

/// The clocks of schedules: one that goes on over restarts of the supervisor and of the machine, and the user's.
struct ScheduleClock {
    /// A moment by all clocks, to which later readings refer.
    private struct Anchor: WireRecord {
        var bootIdentifier: String
        var boot: Int64
        var universal: Int64
        var steady: Int64

        static let layout = Layout(
            Self.init,
            Field(\.bootIdentifier, .text(limit: 64)),
            Field(\.boot),
            Field(\.universal),
            Field(\.steady)
        )
    }

    private let anchor: Anchor

    /// Continues the clock whose anchor an earlier supervisor has left.
    ///
    /// After a start of the machine the time of day tells how much has passed; a clock that was set back adds nothing.
    init(stateDirectory: String, directory: RuntimeDirectory) {
        let path = "\(stateDirectory)/clock"
        let (boot, universal, _) = Self.readings
        let identifier = BootIdentifier.current(FileSystem())
        var next = Anchor(bootIdentifier: identifier, boot: boot, universal: universal, steady: universal)
        let bytes = directory.contents(of: path, limit: 256) ?? []
        if let earlier = try? WireReader.decode(Anchor.self, from: bytes) {
            let isSameBoot = earlier.bootIdentifier == identifier && boot >= earlier.boot
            let passed = isSameBoot ? boot - earlier.boot : max(0, universal - earlier.universal)
            next.steady = earlier.steady + passed
        }
        anchor = next
        try? directory.replace(path, with: WireWriter.encode(next))
    }

    var now: ScheduleTime {
        let (boot, universal, offset) = Self.readings
        return ScheduleTime(steady: steady(ofBoot: boot), local: universal + offset, offset: offset)
    }

    private func steady(ofBoot boot: Int64) -> Int64 { anchor.steady + boot - anchor.boot }

    /// The time of the system's clock for timers.
    func boot(ofSteady time: Int64) -> Int64 { max(1, time - anchor.steady + anchor.boot) }

    private static var readings: (boot: Int64, universal: Int64, offset: Int64) {
        var boot = timespec()
        var universal = timespec()
        var local = tm()
        clock_gettime(CLOCK_BOOTTIME, &boot)
        clock_gettime(CLOCK_REALTIME, &universal)
        // The zone may have changed while this process runs.
        tzset()
        localtime_r(&universal.tv_sec, &local)
        return (Int64(boot.tv_sec), Int64(universal.tv_sec), Int64(local.tm_gmtoff))
    }
}
