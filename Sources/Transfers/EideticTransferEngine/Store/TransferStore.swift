import EideticCore
import EideticTransfer

/// The sessions, transfers and events of all applications, and the journal that keeps them.
///
/// It is used on one thread. A change outlives the process after ``Journal/flush()``, and a loss of power after the
/// journal is synchronised.
final class TransferStore {
    let directory: String
    let fileSystem: FileSystem
    let time: any TimeSource
    private(set) var journal: Journal
    var rows = TransferRows()
    /// The transfers of events that are not acknowledged.
    var eventTransfers: [UInt64: UInt64] = [:]
    /// The outcomes of the last events, by their numbers: most are delivered as soon as they are safe.
    var lastOutcomes: [UInt64: TransferEvent.Outcome] = [:]
    /// The transfers that have ended and whose secrets are in the journal still.
    var unerasedSecrets: Set<UInt64> = []
    /// The records that later ones have replaced, by their transfers.
    var supersededPlaces: [UInt64: [JournalPlace]] = [:]
    /// The records that are marked as invalid, and not yet erased.
    var invalidPlaces: [JournalPlace] = []
    private(set) var applications: [String: TransferApplication] = [:]
    var sessions: [UInt32: TransferSession] = [:]
    var hosts = HostTable()
    var nextTransfer: UInt64 = 1
    var nextEvent: UInt64 = 1
    var nextSession: UInt32 = 1
    /// The identifier of the boot, and a number for it.
    let boot: String
    let bootNumber: UInt64
    /// The bytes of records that are still needed.
    var liveBytes: UInt64 = 0

    /// The size below which the journal is not compacted.
    static let compactionThreshold: UInt64 = 1 << 20

    /// Opens the store of a directory, which is created if it is missing.
    init(
        directory: String,
        fileSystem: FileSystem,
        time: any TimeSource,
        boot: String? = nil
    ) throws(EideticError) {
        self.directory = directory
        self.fileSystem = fileSystem
        self.time = time
        self.boot = boot ?? BootIdentifier.current(fileSystem)
        bootNumber = Array(self.boot.utf8).withUnsafeBytes { Checksum.value(of: $0) }
        try Self.checkVersion(of: directory, fileSystem: fileSystem)
        let replay = StoreReplay()
        let path = "\(directory)/journal"
        do throws(SystemError) {
            try fileSystem.makeDirectories(directory)
            journal = try Journal(path: path, fileSystem: fileSystem, replay: replay.apply)
            try restore(replay)
        } catch {
            throw EideticError(error)
        }
    }

    /// Throws `cacheUnavailable` if the journal of a directory is one of a later version of this program.
    static func checkVersion(of directory: String, fileSystem: FileSystem = FileSystem()) throws(EideticError) {
        let path = "\(directory)/journal"
        let later: Int?
        do throws(SystemError) {
            later = try Journal.laterVersion(at: path, fileSystem: fileSystem)
        } catch {
            throw EideticError(error)
        }
        guard let later else { return }
        let message =
            "\(path) has version \(later) of the format, and this program reads up to \(Journal.version): it is too old "
            + "and must be updated; nothing is changed"
        throw EideticError(.cacheUnavailable, message: message)
    }

    /// Returns an application, which is created if it is missing.
    func application(named name: String) -> TransferApplication {
        if let application = applications[name] { return application }
        let application = TransferApplication(name: name, index: applications.count, root: directory)
        applications[name] = application
        return application
    }

    func session(_ identifier: String, of application: TransferApplication) throws(EideticError) -> TransferSession {
        if let session = application.sessions[identifier] { return session }
        throw EideticError(.notFound, message: "the session \"\(identifier)\" does not exist; open it first")
    }

    /// Reads the request of a transfer with its header fields.
    func request(of row: TransferRow) throws(EideticError) -> AddedTransfer {
        let record = try read(row.added)
        guard case .added(var added) = record.record else { throw damaged }
        if let headers = RequestSecret.decode(record.secret) { added.request.headers = headers }
        return added
    }

    /// Reads the response of a part that has arrived.
    func part(of row: TransferRow) throws(EideticError) -> PartDescription? {
        guard let place = row.detail, case .response(_, let part) = try read(place).record else { return nil }
        return part
    }

    /// Reads the URL at which an upload is continued, and whether it must have a public address.
    func uploadLocation(of row: TransferRow) throws(EideticError) -> (url: String, requiresPublicAddress: Bool)? {
        guard let place = row.detail,
            case .uploadLocation(_, let url, let requiresPublicAddress) = try read(place).record
        else { return nil }
        return (url, requiresPublicAddress)
    }

    /// Reads the event of a transfer that has ended; a failure if the journal cannot be read.
    func event(of row: TransferRow) -> TransferEvent {
        var request: TransferRequest?
        let outcome: TransferEvent.Outcome
        do throws(EideticError) {
            request = try self.request(of: row).request
            outcome = try self.outcome(of: row)
        } catch {
            Log.write(.error, category: .fetch, message: "the event of the transfer \(row.number): \(error)")
            let message = "what became of the transfer cannot be read from the journal: \(error.message)"
            outcome = .failed(code: error.code.description, message: message)
        }
        return TransferEvent(
            number: row.event,
            transfer: TransferIdentifier(row.number),
            kind: row.kind,
            url: request?.url ?? "",
            note: request?.note ?? [],
            outcome: outcome
        ).fittingPacket()
    }

    private func outcome(of row: TransferRow) throws(EideticError) -> TransferEvent.Outcome {
        if let outcome = lastOutcomes[row.event] { return outcome }
        guard let place = row.ended, case .ended(let ended) = try read(place).record else { throw damaged }
        return ended.outcome
    }

    func read(_ place: JournalPlace) throws(EideticError) -> (record: JournalRecord, secret: [UInt8]) {
        do throws(SystemError) { return try journal.record(at: place) } catch { throw EideticError(error) }
    }

    private var damaged: EideticError {
        EideticError(.fileFailure, message: "\(directory)/journal: a record is damaged")
    }

    /// Appends a record that is needed until ``release(_:)``.
    func append(_ record: JournalRecord, secret: [UInt8] = []) throws(SystemError) -> JournalPlace {
        let place = try journal.append(record, secret: secret)
        liveBytes += UInt64(place.length)
        return place
    }

    /// Records that a record is not needed any more.
    func release(_ place: JournalPlace?) {
        guard let place else { return }
        liveBytes -= min(liveBytes, UInt64(place.length))
    }

    /// Rewrites the journal if less than half of it is needed.
    ///
    /// - Returns: `true` if the journal was replaced, and is synchronised.
    func compactIfNeeded() throws(SystemError) -> Bool {
        guard journal.length > Self.compactionThreshold, liveBytes < journal.length / 2 else { return false }
        try compact()
        return true
    }

    /// Records that a later record of a transfer has replaced this one.
    func supersede(_ place: JournalPlace?, of number: UInt64) {
        guard let place else { return }
        release(place)
        supersededPlaces[number, default: []].append(place)
    }

    /// Marks records that are not needed any more, which are erased when the marks are safe.
    func invalidate(_ places: [JournalPlace]) {
        // Records without a mark are found at the next start.
        guard (try? journal.invalidate(places)) != nil else { return }
        invalidPlaces += places
    }

    /// Returns the records that are erased after the next synchronisation of the journal, and forgets them.
    func takeInvalidPlaces() -> [JournalPlace] {
        defer { invalidPlaces = [] }
        return invalidPlaces
    }
}

// MARK: Compaction
extension TransferStore {
    func compact() throws(SystemError) {
        let numbers = rows.keys.sorted()
        let sessionPlaces = sessions.values.sorted { $0.number < $1.number }.map(\.place)
        var places = sessionPlaces
        for number in numbers { places += rows[number]?.places ?? [] }
        let first: [JournalRecord] = [
            .counters(nextTransfer: nextTransfer, nextEvent: nextEvent), .boot(boot),
        ]
        var last: [JournalRecord] = []
        for number in numbers {
            guard let row = rows[number] else { continue }
            if row.mark > 0 { last.append(.mark(transfer: number, offset: row.mark)) }
            if row.state == .paused { last.append(.paused(transfer: number, true)) }
        }
        var moved = try journal.compact(
            first: first,
            repeating: sessionPlaces,
            keeping: places,
            last: last
        )[...]
        for session in sessions.values.sorted(by: { $0.number < $1.number }) {
            if let place = moved.popFirst() { session.place = place }
        }
        for number in numbers { rows[number]?.move(to: &moved) }
        liveBytes = journal.length
        // They were left out.
        supersededPlaces = [:]
        invalidPlaces = []
    }
}

extension TransferRow {
    /// The records of the transfer, in the order in which they are read.
    fileprivate var places: [JournalPlace] { [added] + (detail.map { [$0] } ?? []) + (ended.map { [$0] } ?? []) }

    fileprivate mutating func move(to places: inout ArraySlice<JournalPlace>) {
        if let place = places.popFirst() { added = place }
        if detail != nil { detail = places.popFirst() }
        if ended != nil { ended = places.popFirst() }
    }
}

extension Journal.File {
    /// Overwrites records that are marked as invalid with zeros; may be called on any thread.
    func erase(_ places: [JournalPlace], with fileSystem: FileSystem) throws(SystemError) {
        for place in places {
            let zeros = [UInt8](repeating: 0, count: Int(place.length) - Journal.headSize)
            try fileSystem.write(zeros, to: descriptor, at: Int(place.offset) + Journal.headSize)
        }
    }
}
