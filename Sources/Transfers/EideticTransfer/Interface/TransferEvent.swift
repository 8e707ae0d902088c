import EideticCore
package import EideticHTTP

/// The end of a transfer, which is delivered until it is acknowledged.
package struct TransferEvent: Sendable, Hashable {
    /// The outcomes of a transfer.
    package enum Outcome: Sendable, Hashable {
        /// The server has sent a response, of any status.
        case finished(Response)
        /// The transfer has failed; attempts were made until it was certain.
        case failed(code: String, message: String)
        /// The transfer was cancelled; with the data to resume it, if the application asked for it and there is any.
        case cancelled(reason: CancellationReason, resumeData: [UInt8]?)
    }

    /// The reasons for a cancellation.
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
    /// The URL of the request.
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
    /// A transfer has ended.
    case event(TransferEvent)
    /// Bytes were transferred; at most four times a second for each transfer. `total` is `nil` while it is unknown.
    case progress(TransferIdentifier, completed: Int, total: Int?)
    /// No transfer of the session is left that has not ended, and all their events up to this number were delivered.
    ///
    /// It is sent again when the session is observed again, until they are acknowledged.
    case sessionFinished(lastEvent: UInt64)
}
