import EideticCore
import EideticTransfer
import Glibc

extension TransferStore {
    /// Creates a session, or changes its settings.
    func openSession(
        _ configuration: TransferSessionConfiguration,
        of application: TransferApplication
    ) throws(EideticError) {
        try configuration.validate()
        let existing = application.sessions[configuration.identifier]
        let isKnown = application.identity.isEmpty || existing?.identity == application.identity
        if existing?.configuration == configuration, isKnown { return }
        guard existing != nil || application.sessions.count < TransferLimits.sessionCount else {
            let limit = TransferLimits.sessionCount
            throw EideticError(.limitExceeded, message: "the application has \(limit) sessions, the most allowed")
        }
        try makeDirectories(of: application)
        let number = existing?.number ?? nextSession
        let record = JournalRecord.session(
            number: number,
            application: application.name,
            identity: application.identity,
            configuration
        )
        let place = try change { () throws(SystemError) in
            // Twice: with a damaged record all transfers of the session would be lost.
            try journal.append(record)
            return try append(record)
        }
        release(existing?.place)
        if let existing {
            existing.configuration = configuration
            existing.place = place
            existing.identity = application.identity
        } else {
            nextSession += 1
            let session = TransferSession(
                number: number,
                application: application,
                configuration: configuration,
                place: place
            )
            session.identity = application.identity
            sessions[number] = session
            application.sessions[configuration.identifier] = session
        }
    }

    /// Removes a session whose transfers do not run; returns the paths of its files, which the caller removes.
    func removeSession(_ session: TransferSession) throws(EideticError) -> [String] {
        try change { () throws(SystemError) in
            try journal.append(.counters(nextTransfer: nextTransfer, nextEvent: nextEvent))
            try journal.append(.sessionRemoved(number: session.number))
        }
        let application = session.application
        var paths: [String] = []
        for row in rows.values where row.session == session.number {
            paths += [application.partPath(row.number), application.uploadPath(row.number)]
            paths.append(application.outboxPath(row.number))
            remove(row, of: application)
        }
        release(session.place)
        sessions[session.number] = nil
        application.sessions[session.configuration.identifier] = nil
        return paths
    }

    private func makeDirectories(of application: TransferApplication) throws(EideticError) {
        guard application.sessions.isEmpty else { return }
        do throws(SystemError) {
            for name in TransferApplication.subdirectories {
                try fileSystem.makeDirectories("\(application.directory)/\(name)")
            }
            try fileSystem.synchronizeDirectory(of: application.directory)
        } catch {
            throw EideticError(error)
        }
    }
}
