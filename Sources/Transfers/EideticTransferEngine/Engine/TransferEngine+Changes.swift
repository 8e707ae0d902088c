import EideticCore
import EideticFetch
import EideticTransfer
import Glibc

/// The changes of transfers that an application, or the user, makes.
extension TransferEngine {
    func pause(_ number: UInt64) throws(EideticError) {
        guard store.rows[number]?.state != .paused else { return }
        try store.setPaused(true, of: number)
        held.remove(number)
        guard let transfer = running[number] else { return }
        release(transfer)
        transfer.keepPart()
        updateKeptBytes(of: transfer)
    }

    func resume(_ number: UInt64) throws(EideticError) {
        guard let row = store.rows[number], row.state != .running else { return }
        if row.state == .paused { try store.setPaused(false, of: number) }
        store.rows[number]?.notBefore = .zero
        makeReady(number)
    }

    func cancel(
        _ number: UInt64,
        reason: TransferEvent.CancellationReason,
        keepsResumeData: Bool
    ) {
        if let transfer = running[number] {
            release(transfer)
            if keepsResumeData { transfer.keepPart() }
        }
        let data = keepsResumeData ? keepPart(of: number) : nil
        end(number, with: .cancelled(reason: reason, resumeData: data))
    }

    /// Moves the part of a download to the files that are kept for the application.
    private func keepPart(of number: UInt64) -> [UInt8]? {
        guard let row = store.rows[number], let session = store.sessions[row.session],
            let part = try? store.part(of: row), part.validator != nil,
            let request = try? store.request(of: row).request
        else { return nil }
        let token =
            String(UInt64.random(in: 1 << 60 ... .max), radix: 36) + String(UInt64.random(in: 0 ... .max), radix: 36)
        let application = session.application
        let source = application.partPath(number)
        guard (try? fileSystem.rename(source, to: application.keptPath(token))) != nil else { return nil }
        removeOldParts(of: application)
        synchronise(application.keptPath(token))
        // The header fields are not a part of the data, which the application stores.
        var kept = part
        kept.headers = part.headers.removing(["Set-Cookie"])
        let data = WireWriter.encode(ResumeData(token: token, part: kept, url: request.url))
        return data.count <= TransferLimits.resumeDataLength ? data : nil
    }

    /// Makes a kept part safe before the journal, and so before the event that has its data; removes it otherwise.
    private func synchronise(_ path: String) {
        let files = fileSystem
        syncWorker.add(
            .work {
                do throws(SystemError) {
                    try files.synchronizeData(try files.open(path, flags: O_RDONLY))
                } catch {
                    files.removeIfPresent(path)
                }
            }
        )
    }

    /// Removes kept parts that are a week old, and the oldest above 16.
    private func removeOldParts(of application: TransferApplication) {
        let directory = "\(application.directory)/kept"
        let files = ((try? fileSystem.entryNames(in: directory)) ?? []).compactMap { name in
            (try? fileSystem.status(of: "\(directory)/\(name)")).map { (name, $0.modificationTime) }
        }.sorted { $0.1 > $1.1 }
        for (index, file) in files.enumerated() where index >= 16 || time.now - file.1 > .seconds(7 * 86_400) {
            fileSystem.removeIfPresent("\(directory)/\(file.0)")
        }
    }

    func acknowledge(_ events: [UInt64], by application: TransferApplication) throws(EideticError) {
        removeAfterCommit(try store.acknowledge(events, by: application))
        resetWakePauses(of: application)
    }

    /// Cancels all transfers of an application that the user has quit by force, and does not launch it for their
    /// events.
    ///
    /// It is launched for events again after it has opened or observed the session.
    package func forceQuit(_ name: String) {
        let application = store.application(named: name)
        for session in application.sessions.values {
            session.isForceQuit = true
            for row in store.rows.values where row.session == session.number && !row.state.isTerminal {
                guard !finishing.contains(row.number) else { continue }
                cancel(row.number, reason: .userForceQuit, keepsResumeData: false)
            }
        }
    }
}
