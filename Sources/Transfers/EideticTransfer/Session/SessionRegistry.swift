import EideticCore

/// The sessions of this process by their identifiers, each of which it has once.
final class SessionRegistry: Sendable {
    static let shared = SessionRegistry()

    private struct State {
        var sessions: [String: BackgroundURLSession] = [:]
        /// The invalid sessions that are still connected, or wait for one that is.
        var ending: [String: SessionCore] = [:]
    }

    private let state = Guarded(State())

    /// Returns the session of a configuration's identifier, which is created if there is none.
    func session(
        for configuration: BackgroundURLSession.Configuration,
        delegate: (any BackgroundURLSessionDelegate)?
    ) -> BackgroundURLSession {
        // Created without the lock, and discarded if another thread was faster.
        if let session = state.withLock({ $0.sessions[configuration.identifier] }) { return session }
        let candidate = BackgroundURLSession(configuration: configuration, delegate: delegate) { [weak self] core in
            self?.remove(core)
        }
        let (session, predecessor) = state.withLock { state in
            if let session = state.sessions[configuration.identifier] { return (session, nil as SessionCore?) }
            state.sessions[configuration.identifier] = candidate
            return (candidate, state.ending[configuration.identifier])
        }
        if session === candidate { connect(candidate, after: predecessor) }
        return session
    }

    /// Connects a session when the one before it with the same identifier has ended.
    private func connect(_ session: BackgroundURLSession, after predecessor: SessionCore?) {
        let provider = SystemTransferServiceProvider(configuration: session.configuration)
        Task { [core = session.core] in
            _ = try? await predecessor?.ended.value()
            await core.run(with: provider)
            provider.releaseSession()
            core.ended.fulfil(.success(()))
            forget(core)
        }
    }

    private func forget(_ core: SessionCore) {
        let identifier = core.configuration.identifier
        state.withLock { state in
            if state.ending[identifier] === core { state.ending[identifier] = nil }
        }
    }

    private func remove(_ core: SessionCore) {
        let identifier = core.configuration.identifier
        let session = state.withLock { state -> BackgroundURLSession? in
            guard state.sessions[identifier]?.core === core else { return nil }
            if core.ended.result == nil { state.ending[identifier] = core }
            return state.sessions.removeValue(forKey: identifier)
        }
        withExtendedLifetime(session) {}
    }
}
