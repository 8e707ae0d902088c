package import EideticCore
package import EideticLifecycle

/// A message of the supervisor to an application.
package enum SupervisorMessage: Sendable, Hashable {
    case welcome(Welcome)
    /// A callback to complete and acknowledge before the deadline.
    case lifecycle(LifecycleCallback, sequence: UInt64, deadline: Duration)
    /// Calls all expiration handlers; the process is killed if tasks are open at the deadline.
    case expire(deadline: Duration)
    case memoryWarning(level: UInt8)
    /// The application was suspended between these times of `CLOCK_MONOTONIC`, and continues.
    case suspended(from: Duration, to: Duration)
    /// Asks for the names of the open tasks.
    case taskNames(request: UInt64)
    /// Ends the process with success.
    case exit
    case refused(LifecycleEffect.Refusal)
    /// An answer or a message that concerns wakes and notifications.
    case wakes(WakeReply)
}

extension SupervisorMessage: WireRecord {
    package static let layout = Layout<Self>(
        Case(1, welcome) { if case .welcome(let welcome) = $0 { welcome } else { nil } },
        Case(2, lifecycle) {
            if case .lifecycle(let callback, let number, let end) = $0 { (callback, number, end) } else { nil }
        },
        Case(3, expire) { if case .expire(let deadline) = $0 { deadline } else { nil } },
        Case(4, memoryWarning) { if case .memoryWarning(let level) = $0 { level } else { nil } },
        Case(5, suspended) { if case .suspended(let start, let end) = $0 { (start, end) } else { nil } },
        Case(6, taskNames) { if case .taskNames(let request) = $0 { request } else { nil } },
        Case(7, exit),
        Case(8, refused) { if case .refused(let refusal) = $0 { refusal } else { nil } },
        Case(9, wakes) { if case .wakes(let reply) = $0 { reply } else { nil } }
    )
}

extension LifecycleEffect.Refusal: WireValue {}
