/// A kind of background work that an application declares, with the name that desktop entries use.
package enum DeclaredMode: String, Sendable, Hashable, CaseIterable {
    case audio, location, voip, fetch
    case remoteNotification = "remote-notification"
    case processing, transfers, continued

    /// The kind of wake that the mode admits; `nil` for a mode in which the application runs on.
    package var wakeKind: WakeReason.Kind? {
        switch self {
        case .audio, .continued: nil
        case .location: .location
        case .voip: .voip
        case .fetch: .fetch
        case .remoteNotification: .push
        case .processing: .processing
        case .transfers: .session
        }
    }

    /// The continuous assertion that the mode admits; `nil` for a mode in which the application is woken.
    package var assertion: ContinuousAssertion? {
        switch self {
        case .audio: .audio
        case .continued: .continued
        default: nil
        }
    }
}

extension Set<DeclaredMode> {
    /// The kinds of wake that the modes admit, with notifications, which no mode governs.
    package var wakeKinds: Set<WakeReason.Kind> { Set<WakeReason.Kind>(compactMap(\.wakeKind)).union([.notification]) }

    /// The continuous assertions that the modes admit.
    package var assertions: Set<ContinuousAssertion> { Set<ContinuousAssertion>(compactMap(\.assertion)) }
}

/// An activity for which an application runs in the background for as long as it lasts.
package enum ContinuousAssertion: UInt8, Sendable, Hashable, CaseIterable {
    /// The application plays or records sound.
    case audio
    /// The application does work that the user has started, and that makes progress.
    case continued
}
