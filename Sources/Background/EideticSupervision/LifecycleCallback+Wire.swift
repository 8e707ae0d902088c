package import EideticCore
package import EideticLifecycle

extension LifecycleCallback: WireRecord {
    package static let layout = Layout<Self>(
        Case(1, launch) { if case .launch(let reason) = $0 { reason } else { nil } },
        Case(2, launchInBackground) { if case .launchInBackground(let reason) = $0 { reason } else { nil } },
        Case(3, didBecomeActive),
        Case(4, willResignActive),
        Case(5, didEnterBackground),
        Case(6, willEnterForeground),
        Case(7, openURL) { if case .openURL(let url) = $0 { url } else { nil } },
        Case(8, wake) { if case .wake(let reason) = $0 { reason } else { nil } },
        Case(9, willTerminate)
    )
}

extension LaunchReason: WireRecord {
    package static let layout = Layout<Self>(
        Case(1, user),
        Case(2, url) { if case .url(let url) = $0 { url } else { nil } },
        Case(3, notificationResponse, .url) {
            if case .notificationResponse(let response) = $0 { response } else { nil }
        },
        Case(4, wake) { if case .wake(let kind) = $0 { kind } else { nil } }
    )
}

extension IncomingURL: WireRecord {
    package static let layout = Layout(
        Self.init,
        Field(\.text, .url),
        Field(\.id),
        Field(\.source, .optional(.identifier))
    )
}

extension WakeReason: WireRecord {
    package static let layout = Layout(
        Self.init,
        Field(\.kind),
        Field(\.id),
        Field(\.session, .text(limit: TransferSupervision.nameLimit)),
        Field(\.payload, .bytes(limit: payloadLimit))
    )
}

extension WakeReason.Kind: WireValue {}
