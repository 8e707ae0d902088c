package import EideticCore

/// The state of a transfer at one moment.
package struct TransferStatus: Sendable, Hashable {
    /// The steps of a transfer.
    package enum State: UInt8, WireValue, Hashable, CaseIterable {
        /// It starts when the reasons in ``TransferStatus/reasons`` have gone.
        case waiting = 1
        /// It has a connection, or is being connected.
        case running
        case paused
        /// It has ended; the event is not acknowledged.
        case finished
        case failed
        case cancelled

        package var isTerminal: Bool { rawValue >= Self.finished.rawValue }

        package var name: String { "\(self)" }
    }

    package var identifier: TransferIdentifier
    package var session: String
    package var state: State
    package var kind: TransferRequest.Kind
    package var url: String
    package var note: [UInt8]
    /// The number of bytes received by a download, or acknowledged by the server of an upload.
    package var completedBytes = 0
    /// The number of bytes of the whole body; `nil` while it is unknown.
    package var totalBytes: Int?
    /// The number of attempts that failed since the last one that transferred bytes.
    package var attemptCount = 0
    /// The moment of the next attempt; `nil` if it depends on other conditions only.
    package var nextAttempt: Timestamp?
    /// The reasons for which a transfer that waits does not run; empty for any other.
    package var reasons: [WaitReason] = []
    /// The last failure of an attempt; empty if there is none.
    package var lastError = ""

    /// The time of day before which it does not begin; `nil` if it has come, or was not set.
    package var earliestBegin: Timestamp? {
        state == .paused || reasons.contains { $0.code == .earliestBegin } ? nextAttempt : nil
    }
}

package struct WaitReason: Sendable, Hashable {
    /// The kinds of reasons.
    package enum Code: UInt8, WireValue, Hashable, CaseIterable {
        /// All connections are in use.
        case connectionLimit = 1
        /// All connections to the host are in use.
        case hostLimit
        /// Other applications, or transfers of a higher priority, are first.
        case queue
        /// The delay after a failure has not passed.
        case backoff
        /// The server asked for a delay.
        case retryAfter
        /// There is no network.
        case network
        /// The session is discretionary, and the machine has no external power.
        case power
        /// The session is discretionary, and the network is metered.
        case meteredNetwork
        /// The session is discretionary, and the machine is busy.
        case busy
        /// The files of the application reach its share of the disk.
        case quota
        /// The file system is full.
        case diskFull
        /// The time before which the transfer does not begin has not come.
        case earliestBegin

        package var name: String { "\(self)" }
    }

    package var code: Code
    /// One sentence for people, with the next chance where it is known.
    package var text: String

    package init(_ code: Code, text: String) {
        self.code = code
        self.text = text
    }
}

extension TransferStatus: WireRecord {
    /// Creates the status of a transfer that has not begun.
    package init(
        identifier: TransferIdentifier,
        session: String,
        state: State,
        kind: TransferRequest.Kind,
        url: String,
        note: [UInt8] = []
    ) {
        self.init(
            identifier: identifier,
            session: session,
            state: state,
            kind: kind,
            url: url,
            note: note,
            completedBytes: 0
        )
    }

    package static let layout = Layout(
        Self.init,
        Field(\.identifier),
        Field(\.session, .name),
        Field(\.state),
        Field(\.kind),
        Field(\.url),
        Field(\.note),
        Field(\.completedBytes, .number()),
        Field(\.totalBytes, .optional(.number())),
        Field(\.attemptCount, .number()),
        Field(\.nextAttempt),
        Field(\.reasons),
        Field(\.lastError)
    )
}

extension WaitReason: WireRecord {
    package static let layout = Layout(Self.init, \.code, \.text)
}
