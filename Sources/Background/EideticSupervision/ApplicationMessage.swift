package import EideticCore
package import EideticLifecycle

/// A message of an application to its supervisor.
package enum ApplicationMessage: Sendable, Hashable {
    case hello(Hello)
    /// The callback with this sequence number was completed.
    case acknowledged(sequence: UInt64)
    /// The sorted names of the open tasks, as the request with this number asked; long lists are cut.
    case taskNames([String], request: UInt64)
    /// The last background task ended outside the foreground.
    case idle
    case wakeCompleted(UInt64, WakeResult)
    case urlAnswered(UInt64, isHandled: Bool)
    case presentation(PresentationMessage)
    case assertion(ContinuousAssertion, isHeld: Bool)
    /// The application asks for its termination, which follows as callbacks.
    case leaving
    /// A request that concerns wakes and notifications.
    case wakes(WakeCommand)

}

extension ApplicationMessage: WireRecord {
    package static let layout = Layout<Self>(
        Case(1, hello) { if case .hello(let hello) = $0 { hello } else { nil } },
        Case(2, acknowledged) { if case .acknowledged(let sequence) = $0 { sequence } else { nil } },
        Case(3, taskNames, .taskNames, .value) {
            if case .taskNames(let names, let request) = $0 { (names, request) } else { nil }
        },
        Case(4, idle),
        Case(5, wakeCompleted) { if case .wakeCompleted(let id, let result) = $0 { (id, result) } else { nil } },
        Case(6, urlAnswered) { if case .urlAnswered(let id, let isHandled) = $0 { (id, isHandled) } else { nil } },
        Case(7, presentation) { if case .presentation(let presentation) = $0 { presentation } else { nil } },
        Case(8, assertion) { if case .assertion(let kind, let isHeld) = $0 { (kind, isHeld) } else { nil } },
        Case(9, leaving),
        Case(10, wakes) { if case .wakes(let command) = $0 { command } else { nil } }
    )
}

extension Layout<[String]> {
    fileprivate static var taskNames: Self {
        list(.text(limit: SupervisionProtocol.textLimit), limit: SupervisionProtocol.listLimit)
    }
}

extension WakeResult: WireValue {}
extension ContinuousAssertion: WireValue {}
