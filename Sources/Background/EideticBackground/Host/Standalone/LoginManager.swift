import EideticDBus
import EideticCore
import Glibc
import EideticLifecycle

/// The events of logind for the state machine, and its delay inhibitor.
///
/// Used by one thread only.
final class LoginManager {
    private let client: LoginClient
    private let receiver: Receiver

    private final class Receiver {
        let post: (LifecycleEvent) -> Void
        var sleepDelay: Duration = .zero
        init(post: @escaping (LifecycleEvent) -> Void) { self.post = post }

        func receive(_ event: LoginClient.Event) {
            switch event {
            case .willSleep: post(.systemWillSleep(within: sleepDelay))
            case .didWake: post(.systemDidWake)
            case .locked: post(.lock)
            case .unlocked: post(.unlock)
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
        let receiver = Receiver(post: post)
        do throws(BusError) {
            client = try LoginClient(callTimeout: Self.callTimeout) { receiver.receive($0) }
        } catch {
            Log.write(.info, category: .background, message: "\(error)")
            return nil
        }
        self.receiver = receiver
        let delay = client.maximumDelay
        receiver.sleepDelay = delay - min(delay / 2, Self.reservedDelay)
    }

    /// Delays the next sleep.
    func inhibitSleep() {
        do throws(BusError) { try client.inhibitSleep() } catch {
            Log.write(.warning, category: .background, message: "\(error)")
        }
    }

    /// Releases the inhibitor, so that the machine can sleep.
    func allowSleep() { client.allowSleep() }

    /// Handles the signals that have arrived; returns `false` if the bus is gone and no further signal can arrive.
    func process() -> Bool { client.process() }

    var pollDescriptor: pollfd { pollfd(fd: client.descriptor, events: client.pollEvents, revents: 0) }

    /// The time of the next call of `process()` without a signal, by `CLOCK_MONOTONIC`.
    var deadline: Duration? { client.deadline }
}
