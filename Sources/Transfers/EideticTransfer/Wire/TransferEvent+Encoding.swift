package import EideticCore

extension TransferEvent: WireRecord {
    package static let layout = Layout(
        Self.init,
        Field(\.number),
        Field(\.transfer),
        Field(\.kind),
        Field(\.url),
        Field(\.note),
        Field(\.outcome)
    )
    .map(to: \.withEffectiveURL, from: \.withoutRepeatedURL)

    /// The event, without the URL after redirects if it is that of the request.
    private var withoutRepeatedURL: TransferEvent { replacingEffectiveURL(url, by: "") }

    private var withEffectiveURL: TransferEvent { replacingEffectiveURL("", by: url) }

    private func replacingEffectiveURL(_ old: String, by new: String) -> TransferEvent {
        guard case .finished(var response) = outcome, response.effectiveURL == old else { return self }
        response.effectiveURL = new
        var event = self
        event.outcome = .finished(response)
        return event
    }
}

extension TransferEvent.Outcome: WireRecord {
    package static let layout = Layout<Self>(
        Case(1, finished) { if case .finished(let response) = $0 { response } else { nil } },
        Case(2, failed) { if case .failed(let code, let message) = $0 { (code, message) } else { nil } },
        Case(3, cancelled) { if case .cancelled(let reason, let data) = $0 { (reason, data) } else { nil } }
    )
}

extension TransferEvent.Response: WireRecord {
    package static let layout = Layout(
        Self.init,
        Field(\.path),
        Field(\.length, .number()),
        Field(\.status, .number()),
        Field(\.effectiveURL),
        Field(\.headers)
    )
}

extension TransferNotification: WireRecord {
    package static let layout = Layout<Self>(
        Case(1, event) { if case .event(let event) = $0 { event } else { nil } },
        Case(2, progress, .value, .number(), .optional(.number())) {
            if case .progress(let transfer, let completed, let total) = $0 { (transfer, completed, total) } else { nil }
        },
        Case(3, sessionFinished) { if case .sessionFinished(let lastEvent) = $0 { lastEvent } else { nil } }
    )
}
