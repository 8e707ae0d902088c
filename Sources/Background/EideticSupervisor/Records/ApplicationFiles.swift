package import EideticCore
package import EideticSupervision
import Glibc

/// The files of an application: its record, its schedule, its saved state, and the report of its last end.
package struct ApplicationFiles {
    private let directory: RuntimeDirectory
    private let identifier: String
    /// The directory of the saved state.
    package let archiveDirectory: String
    private var record = RecordFile<ApplicationRecord>()
    private var wakes = RecordFile<WakeRecord>()
    /// A Boolean value indicating whether the record is not written, as what it shows is incomplete.
    package var isRecordHeld = false

    package init(of identifier: String, in directory: RuntimeDirectory, stateDirectory: String) {
        self.directory = directory
        self.identifier = identifier
        archiveDirectory = "\(stateDirectory)/\(identifier)"
    }

    private var wakePath: String { "\(archiveDirectory)/wakes" }
    package var snapshotPath: String { directory.snapshotPath(of: identifier) }

    /// Writes the record if it has changed; returns `false` if it cannot be written.
    package mutating func save(_ next: ApplicationRecord) -> Bool {
        let directory = directory
        let identifier = identifier
        do throws(SystemError) {
            try record.save(next, at: directory.recordPath(of: identifier), in: directory) { () throws(SystemError) in
                try directory.makeDirectory(of: identifier)
            }
            return true
        } catch {
            Log.write(.error, category: .background, message: "cannot save the record of \(identifier): \(error)")
            return false
        }
    }

    /// Writes the schedule if it has changed and says anything.
    package mutating func save(_ next: WakeRecord) {
        guard !wakes.isNew || !next.isEmpty else { return }
        let archive = archiveDirectory
        do throws(SystemError) {
            try wakes.save(next, at: wakePath, in: directory) { () throws(SystemError) in
                try FileSystem().makeDirectories(archive)
            }
        } catch {
            Log.write(.error, category: .background, message: "cannot save the schedule of \(identifier): \(error)")
        }
    }

    /// Reads the schedule that an earlier supervisor has left; `nil` if there is none.
    package mutating func readWakes() throws(WireError) -> WakeRecord? {
        guard let bytes = directory.contents(of: wakePath) else { return nil }
        let record = try WireReader.decode(WakeRecord.self, from: bytes)
        wakes.restore(record)
        return record
    }

    /// Returns the first message to an application, with the token of its page and the number of the supervisor.
    package func welcome(to token: [UInt8], from generation: UInt32, rate: Int) -> Welcome {
        var welcome = Welcome(
            generation: generation,
            token: token,
            archiveDirectory: archiveDirectory,
            socketPath: directory.supervisorSocket
        )
        welcome.messageRate = UInt32(clamping: rate)
        welcome.snapshotPath = snapshotPath
        return welcome
    }

    /// Saves the reason for which a process was ended, for the next launch of the application.
    package func saveExitReport(_ report: String) throws(SystemError) {
        try FileSystem().makeDirectories(archiveDirectory)
        try directory.replace("\(archiveDirectory)/exit-report", with: Array("\(report)\n".utf8))
    }

    /// Deletes the snapshot and the saved state; there may be none.
    package func deleteArchive() throws(SystemError) {
        unlink(snapshotPath)
        let path = "\(archiveDirectory)/state"
        if unlink(path) != 0, errno != ENOENT { throw SystemError(.unlink, errorNumber: errno, path: path) }
    }
}
