package import EideticCore

extension TransferClient: TransferService {
    package func openSession(_ configuration: TransferSessionConfiguration) async throws(EideticError) {
        _ = try await reply(to: .openSession(configuration))
    }

    package func removeSession(_ identifier: String) async throws(EideticError) {
        _ = try await reply(to: .removeSession(identifier))
    }

    package func add(
        _ requests: [TransferRequest],
        to session: String
    ) async throws(EideticError) -> [TransferIdentifier] {
        let files = try await UploadFiles.open(requests.compactMap(\.filePath))
        guard case .added(let transfers) = try await reply(to: .add(requests, session: session), files: files).value,
            transfers.count == requests.count
        else { throw Self.unexpectedReply }
        return transfers
    }

    package func transfers(in session: String?) async throws(EideticError) -> [TransferStatus] {
        var all: [TransferStatus] = []
        var after = TransferIdentifier(0)
        while true {
            guard
                case .transfers(let page, let isLast) = try await reply(to: .list(session: session, after: after)).value
            else { throw Self.unexpectedReply }
            all += page
            guard !isLast, let last = page.map(\.identifier).max(), last > after else { return all }
            after = last
        }
    }

    package func sessions() async throws(EideticError) -> [TransferSessionConfiguration] {
        guard case .sessions(let sessions) = try await reply(to: .sessions).value else { throw Self.unexpectedReply }
        return sessions
    }

    package func pause(_ transfers: [TransferIdentifier]) async throws(EideticError) {
        _ = try await reply(to: .pause(transfers))
    }

    package func resume(_ transfers: [TransferIdentifier]) async throws(EideticError) {
        _ = try await reply(to: .resume(transfers))
    }

    package func cancel(_ transfers: [TransferIdentifier], keepsResumeData: Bool) async throws(EideticError) {
        _ = try await reply(to: .cancel(transfers, keepsResumeData: keepsResumeData))
    }

    package func acknowledge(_ events: [UInt64]) async throws(EideticError) {
        _ = try await reply(to: .acknowledge(events))
    }

    package func openFile(of transfer: TransferIdentifier) async throws(EideticError) -> FileDescriptor {
        let numbers = try await reply(to: .openFile(transfer)).packet.takeDescriptors()
        guard let first = numbers.first else { throw Self.unexpectedReply }
        for extra in numbers.dropFirst() { _ = FileDescriptor(adopting: extra) }
        return FileDescriptor(adopting: first)
    }

    package func observe(
        _ session: String,
        handler: @escaping @Sendable (TransferNotification) -> Void
    ) async throws(EideticError) -> TransferObservation {
        // The handler that was there is released without the lock.
        let (number, replaced) = state.withLock { state in
            state.observerCount += 1
            let observer = (number: state.observerCount, handler: handler)
            return (observer.number, state.observers.updateValue(observer, forKey: session))
        }
        withExtendedLifetime(replaced) {}
        do throws(EideticError) {
            _ = try await reply(to: .observe(session: session))
        } catch {
            _ = removeObserver(of: session, number: number)
            throw error
        }
        return TransferObservation { [weak self] in self?.endObservation(of: session, number: number) }
    }

    private func endObservation(of session: String, number: UInt64) {
        guard removeObserver(of: session, number: number) else { return }
        Task { _ = try? await reply(to: .endObservation(session: session)) }
    }

    /// Removes the observer with a number; returns `false` if there is another one, or none.
    private func removeObserver(of session: String, number: UInt64) -> Bool {
        // The handler is released without the lock, as what it holds may end another observation.
        let removed = state.withLock { state in
            state.observers[session]?.number == number ? state.observers.removeValue(forKey: session) : nil
        }
        return removed != nil
    }

    private static let unexpectedReply = EideticError(
        .connectionLost,
        message: "the transfer process has sent a reply of another kind"
    )
}
