package import EideticCore
package import EideticHTTP

/// The end of a transfer, which is delivered until it is acknowledged.
package struct TransferEvent: Sendable, Hashable {
    package enum Outcome: Sendable, Hashable {
        /// The server has sent a response, of any status.
        case finished(Response)
        /// The transfer has failed; attempts were made until it was certain.
        case failed(code: String, message: String)
        /// The transfer was cancelled; with the data to resume it, if the application asked for it and there is any.
        case cancelled(reason: CancellationReason, resumeData: [UInt8]?)
    }

    package enum CancellationReason: UInt8, WireValue, Hashable {
        case application = 1
        /// The user has quit the application by force.
        case userForceQuit
    }

    /// A response whose body is in a file.
    package struct Response: Sendable, Hashable {
        /// The header field of a response to the question for an upload that the server had completely.
        package static let lostAnswerField = "Eidetic-Answer-Lost"

        /// The path of the file, with mode 0600; the application may rename it, and it is removed when the event is
        /// acknowledged.
        package var path: String
        package var length: Int
        package var status: Int
        /// The URL after redirects; that of the request if both together are too long for a message.
        package var effectiveURL: String
        package var headers: HTTPHeaders

        package init(path: String, length: Int, status: Int, effectiveURL: String, headers: HTTPHeaders) {
            self.path = path
            self.length = length
            self.status = status
            self.effectiveURL = effectiveURL
            self.headers = headers
        }
    }

    /// The number of the event: unique, and increasing in the order of delivery.
    package var number: UInt64
    package var transfer: TransferIdentifier
    package var kind: TransferRequest.Kind
    package var url: String
    /// The bytes that the application has kept with the transfer.
    package var note: [UInt8]
    package var outcome: Outcome

    package init(
        number: UInt64,
        transfer: TransferIdentifier,
        kind: TransferRequest.Kind,
        url: String,
        note: [UInt8],
        outcome: Outcome
    ) {
        self.number = number
        self.transfer = transfer
        self.kind = kind
        self.url = url
        self.note = note
        self.outcome = outcome
    }
}

/// A message to the observer of a session.
package enum TransferNotification: Sendable, Hashable {
    case event(TransferEvent)
    /// Bytes were transferred; at most four times a second for each transfer. `total` is `nil` while it is unknown.
    case progress(TransferIdentifier, completed: Int, total: Int?)
    /// No transfer of the session is left that has not ended, and all their events up to this number were delivered.
    ///
    /// It is sent again when the session is observed again, until they are acknowledged.
    case sessionFinished(lastEvent: UInt64)
}

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
