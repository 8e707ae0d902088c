import CSystemd
import EideticCore

/// A client of logind: its delay inhibitor, and its signals for sleep, shutdown, lock and unlock.
///
/// Used by one thread only.
package final class LoginClient {
    /// A signal of logind.
    package enum Event: Sendable { case willSleep, didWake, locked, unlocked }

    private let handle: OpaquePointer
    private let receiver: Unmanaged<Receiver>

    private final class Receiver {
        let receive: (Event) -> Void
        init(receive: @escaping (Event) -> Void) { self.receive = receive }
    }

    /// Connects to logind; throws without a system bus or logind.
    ///
    /// `process()` calls `receive`.
    package init(callTimeout: Duration, receive: @escaping (Event) -> Void) throws(BusError) {
        receiver = .passRetained(Receiver(receive: receive))
        var error: Int32 = 0
        let opened = eidetic_login_open(
            { context, number in
                guard let context, let event = LoginClient.event(number) else { return }
                Unmanaged<Receiver>.fromOpaque(context).takeUnretainedValue().receive(event)
            },
            receiver.toOpaque(),
            UInt64(callTimeout.inNanoseconds / 1_000),
            &error
        )
        guard let opened else {
            receiver.release()
            throw BusError(error, doing: "logind is not available")
        }
        handle = opened
    }

    private static func event(_ number: Int32) -> Event? {
        switch UInt32(number) {
        case EIDETIC_LOGIN_PREPARES_FOR_SLEEP.rawValue: .willSleep
        case EIDETIC_LOGIN_RESUMED.rawValue: .didWake
        case EIDETIC_LOGIN_LOCKED.rawValue: .locked
        case EIDETIC_LOGIN_UNLOCKED.rawValue: .unlocked
        default: nil
        }
    }

    deinit {
        eidetic_login_close(handle)
        receiver.release()
    }

    /// The time that logind waits for inhibitors; zero if it is unknown.
    package var maximumDelay: Duration { .microseconds(Int64(clamping: eidetic_login_max_delay(handle))) }

    /// Delays the next sleep.
    package func inhibitSleep() throws(BusError) {
        let error = eidetic_login_inhibit(handle, "eidetic", "finishing background tasks")
        if error < 0 { throw BusError(error, doing: "cannot delay sleep") }
    }

    /// Releases the inhibitor, so that the machine can sleep.
    package func allowSleep() { eidetic_login_uninhibit(handle) }

    /// Handles the signals that have arrived; returns `false` if the bus is gone and no further signal can arrive.
    package func process() -> Bool { eidetic_login_process(handle) >= 0 }

    package var descriptor: Int32 { eidetic_login_descriptor(handle) }
    package var pollEvents: Int16 { Int16(truncatingIfNeeded: eidetic_login_poll_events(handle)) }

    /// The time of the next call of `process()` without a signal, by `CLOCK_MONOTONIC`.
    package var deadline: Duration? {
        let moment = eidetic_login_timeout(handle)
        return moment == .max ? nil : .microseconds(Int64(clamping: moment))
    }
}
