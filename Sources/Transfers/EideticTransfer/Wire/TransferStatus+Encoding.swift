package import EideticCore

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
