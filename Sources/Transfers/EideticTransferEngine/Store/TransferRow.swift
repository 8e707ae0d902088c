import EideticCore
import EideticTransfer

/// A transfer in memory: what the scheduler needs; the request stays in the journal.
struct TransferRow {
    var number: UInt64
    var session: UInt32
    /// The index of its host.
    var host: UInt32
    var state: TransferStatus.State = .waiting
    var kind: TransferRequest.Kind
    var priority: Int8
    /// The number of attempts that failed in a row, at most 255.
    var attempts: UInt8 = 0
    /// The number of times that it gave way to others of its application, at most 255.
    var turns: UInt8 = 0
    /// The reason for which it waits until ``notBefore``.
    var waitReason: WaitReason.Code?
    /// A Boolean value indicating whether it no longer waits for the conditions of discretionary sessions.
    var isOverdue = false
    /// A Boolean value indicating whether its first record has header fields, which are erased after its end.
    var hasSecret = false
    var added: JournalPlace
    /// The last record of a response, or of the URL of an upload.
    var detail: JournalPlace?
    var ended: JournalPlace?
    /// The number of its event; 0 for none.
    var event: UInt64 = 0
    /// The bytes of its files.
    var diskBytes = 0
    /// The bytes of the part file that are safe after a loss of power.
    var mark = 0
    /// The bytes that have been transferred.
    var completed = 0
    /// The largest offset of an upload that the server has stated.
    var confirmedOffset = 0
    var total: Int?
    /// The time of day before which it does not begin.
    var earliestBegin: Timestamp?
    // A duration of the library takes 16 bytes.
    private var deadlineNanoseconds: Int64 = 0
    private var notBeforeNanoseconds: Int64 = 0

    init(
        number: UInt64,
        session: UInt32,
        host: UInt32,
        kind: TransferRequest.Kind,
        priority: Int8,
        added: JournalPlace,
        deadline: Duration
    ) {
        self.number = number
        self.session = session
        self.host = host
        self.kind = kind
        self.priority = priority
        self.added = added
        self.deadline = deadline
    }

    /// The uptime at which it fails.
    var deadline: Duration {
        get { .nanoseconds(deadlineNanoseconds) }
        set { deadlineNanoseconds = Int64(newValue.inNanoseconds) }
    }

    /// The uptime before which it is not attempted.
    var notBefore: Duration {
        get { .nanoseconds(notBeforeNanoseconds) }
        set { notBeforeNanoseconds = Int64(newValue.inNanoseconds) }
    }
}

/// A session in memory.
final class TransferSession {
    let number: UInt32
    unowned let application: TransferApplication
    var configuration: TransferSessionConfiguration
    var place: JournalPlace
    /// The digest of the application's secret in the session's record.
    var identity: [UInt8] = []
    /// The number of transfers that have not ended.
    var openCount = 0
    /// The events that are not acknowledged, in order, with their transfers.
    var events: [(event: UInt64, transfer: UInt64)] = []
    /// The last event of a finished session that was announced to the application.
    var announcedEvent: UInt64 = 0
    /// The number of wakes that failed since the application has acknowledged an event.
    var wakeFailures = 0
    /// The uptime before which no event is announced, after a wake that failed.
    var wakeNotBefore: Duration = .zero
    /// A Boolean value indicating whether the user has quit the application by force, and not used it again.
    var isForceQuit = false

    init(
        number: UInt32,
        application: TransferApplication,
        configuration: TransferSessionConfiguration,
        place: JournalPlace
    ) {
        self.number = number
        self.application = application
        self.configuration = configuration
        self.place = place
    }

    /// Inserts an event; events are numbered in order, so it is nearly always the last one.
    func insert(event: UInt64, transfer: UInt64) {
        let index = events.lastIndex { $0.event < event }.map { $0 + 1 } ?? 0
        events.insert((event, transfer), at: index)
    }
}

/// An application in memory, with its directory.
final class TransferApplication {
    let name: String
    let index: Int
    let directory: String
    var sessions: [String: TransferSession] = [:]
    /// The digest of the application's secret; empty while nobody has stated one.
    ///
    /// It is kept as long as the application has a session.
    var identity: [UInt8] = []
    /// The number of transfers whose events are not acknowledged.
    var transferCount = 0
    /// The bytes of all files.
    var diskBytes = 0
    /// A Boolean value indicating whether events wait until the supervisor has continued the application.
    var isHeld = false

    init(name: String, index: Int, root: String) {
        self.name = name
        self.index = index
        // A name may contain any character; the directory's name is a part of its digest.
        directory = "\(root)/\(Digest(sha256: Array(name.utf8)).hexadecimal.prefix(32))"
    }

    /// Returns a Boolean value indicating whether a program with this secret may act for the application.
    ///
    /// The first secret of an application without sessions is the one that others must have.
    func admits(secret: [UInt8]) -> Bool {
        let digest = secret.isEmpty ? [] : Digest(sha256: secret).bytes
        if identity.isEmpty { identity = digest }
        return identity == digest
    }

    func partPath(_ transfer: UInt64) -> String { "\(directory)/parts/\(transfer)" }
    func uploadPath(_ transfer: UInt64) -> String { "\(directory)/uploads/\(transfer)" }
    func outboxPath(_ transfer: UInt64) -> String { "\(directory)/outbox/\(transfer)" }
    func keptPath(_ token: String) -> String { "\(directory)/kept/\(token)" }

    static let subdirectories = ["parts", "uploads", "outbox", "deliveries", "kept"]
}

extension TransferRow {
    /// Records that all was transferred: the body of the response, or the file of the upload.
    mutating func complete(with response: TransferEvent.Response) {
        if kind == .download { total = response.length }
        completed = total ?? response.length
    }
}
