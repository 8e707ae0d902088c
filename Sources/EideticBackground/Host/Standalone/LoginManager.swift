import CSystemd
import EideticCore
import Glibc
import LifecycleCore

/// A client of logind: its delay inhibitor, and its signals for sleep, shutdown, lock and unlock.
///
/// Used by one thread only.
final class LoginManager {
    private let handle: OpaquePointer
    private let receiver: Unmanaged<Receiver>

    private final class Receiver {
        let post: (LifecycleEvent) -> Void
        var sleepDelay: Duration = .zero
        init(post: @escaping (LifecycleEvent) -> Void) { self.post = post }

        func receive(_ event: Int32) {
            switch UInt32(event) {
            case EIDETIC_LOGIN_PREPARES_FOR_SLEEP.rawValue: post(.systemWillSleep(within: sleepDelay))
            case EIDETIC_LOGIN_RESUMED.rawValue: post(.systemDidWake)
            case EIDETIC_LOGIN_LOCKED.rawValue: post(.lock)
            case EIDETIC_LOGIN_UNLOCKED.rawValue: post(.unlock)
            default: break
            }
        }
    }

    /// The reserve within logind's delay, so that the inhibitor is released before logind stops waiting.
    private static let reservedDelay: Duration = .milliseconds(500)
    private static let callTimeout: Duration = .seconds(2)

    /// Connects to logind; `nil` without a system bus or logind.
    ///
    /// `process()` calls `post`.
    init?(post: @escaping (LifecycleEvent) -> Void) {
        receiver = .passRetained(Receiver(post: post))
        var error: Int32 = 0
        let opened = eidetic_login_open(
            { context, event in
                context.map { Unmanaged<Receiver>.fromOpaque($0).takeUnretainedValue().receive(event) }
            },
            receiver.toOpaque(),
            UInt64(Self.callTimeout.inNanoseconds / 1_000),
            &error
        )
        guard let opened else {
            receiver.release()
            Log.write(
                .info,
                category: .background,
                message: "logind is not available: \(SystemError.message(for: -error))"
            )
            return nil
        }
        handle = opened
        let delay = Duration.microseconds(Int64(clamping: eidetic_login_max_delay(handle)))
        receiver.takeUnretainedValue().sleepDelay = delay - min(delay / 2, Self.reservedDelay)
    }

    deinit {
        eidetic_login_close(handle)
        receiver.release()
    }

    /// Delays the next sleep.
    func inhibitSleep() {
        let error = eidetic_login_inhibit(handle, "eidetic", "finishing background tasks")
        if error < 0 {
            Log.write(
                .warning,
                category: .background,
                message: "cannot delay sleep: \(SystemError.message(for: -error))"
            )
        }
    }

    /// Releases the inhibitor, so that the machine can sleep.
    func allowSleep() { eidetic_login_uninhibit(handle) }

    /// Handles the signals that have arrived; returns `false` if the bus is gone and no further signal can arrive.
    func process() -> Bool { eidetic_login_process(handle) >= 0 }

    var pollDescriptor: pollfd {
        pollfd(fd: eidetic_login_descriptor(handle), events: Int16(eidetic_login_poll_events(handle)), revents: 0)
    }

    /// The time of the next call of `process()` without a signal, by `CLOCK_MONOTONIC`.
    var deadline: Duration? {
        let moment = eidetic_login_timeout(handle)
        return moment == .max ? nil : .microseconds(Int64(clamping: moment))
    }
}
