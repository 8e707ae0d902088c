import CSystemd
import EideticCore
import Glibc
import LifecycleCore

/// logind, where there is one: its delay inhibitor, and word of sleep, shutdown, lock and unlock.
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
            case EIDETIC_LOGIN_SLEEP_ANNOUNCED.rawValue: post(.systemWillSleep(within: sleepDelay))
            case EIDETIC_LOGIN_AWOKE.rawValue: post(.systemDidWake)
            case EIDETIC_LOGIN_LOCKED.rawValue: post(.deactivate)
            case EIDETIC_LOGIN_UNLOCKED.rawValue: post(.activate)
            default: break
            }
        }
    }

    /// Kept back of what logind allows, so that the word to go on is there before it loses patience.
    private static let reservedDelay: Duration = .milliseconds(500)
    private static let callTimeout: Duration = .seconds(2)

    /// `nil` where there is no bus or no logind; `post` is called by ``process()``.
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
            Log.write(.info, category: .background, message: "no login manager: \(SystemError.message(for: -error))")
            return nil
        }
        handle = opened
        let delay = Duration.microseconds(Int64(clamping: eidetic_login_longest_delay(handle)))
        receiver.takeUnretainedValue().sleepDelay = delay - min(delay / 2, Self.reservedDelay)
    }

    deinit {
        eidetic_login_close(handle)
        receiver.release()
    }

    /// Holds off the next sleep.
    func inhibitSleep() {
        let error = eidetic_login_inhibit(handle, "eidetic", "background tasks finish first")
        if error < 0 {
            Log.write(
                .warning,
                category: .background,
                message: "sleep is not delayed: \(SystemError.message(for: -error))"
            )
        }
    }

    /// Lets the machine sleep.
    func allowSleep() { eidetic_login_release(handle) }

    /// Handles what has arrived; `false` where the bus is gone, and nothing will ever arrive again.
    func process() -> Bool { eidetic_login_process(handle) >= 0 }

    var pollDescriptor: pollfd {
        pollfd(fd: eidetic_login_descriptor(handle), events: Int16(eidetic_login_poll_events(handle)), revents: 0)
    }

    /// When the bus wants to be looked at without news; it reckons in `CLOCK_MONOTONIC`, too.
    var deadline: Duration? {
        let moment = eidetic_login_timeout(handle)
        return moment == .max ? nil : .microseconds(Int64(clamping: moment))
    }
}
