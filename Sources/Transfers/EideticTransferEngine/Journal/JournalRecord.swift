import EideticCore
import EideticHTTP
import EideticTransfer

/// An entry of the journal.
enum JournalRecord: Sendable {
    /// The next numbers for transfers and events; written at the beginning and by compaction.
    case counters(nextTransfer: UInt64, nextEvent: UInt64)
    /// The boot of the system to which the following records belong.
    case boot(String)
    /// A session, and the digest of the secret of its application.
    case session(number: UInt32, application: String, identity: [UInt8], TransferSessionConfiguration)
    case sessionRemoved(number: UInt32)
    case added(AddedTransfer)
    /// The response to whose body the bytes of the part file belong.
    case response(transfer: UInt64, PartDescription)
    /// The number of bytes of the part file that are safe after a loss of power.
    case mark(transfer: UInt64, offset: Int)
    /// The URL at which an upload is continued.
    case uploadLocation(transfer: UInt64, url: String, requiresPublicAddress: Bool)
    case paused(transfer: UInt64, Bool)
    case ended(EndedTransfer)
    case acknowledged([UInt64])
}

/// A transfer as it was added.
struct AddedTransfer: Sendable {
    var number: UInt64
    var session: UInt32
    var created: Timestamp
    /// The uptime at which it was added, and the number of the boot to which it belongs.
    var createdUptime: Duration
    var boot: UInt64
    var request: TransferRequest
    /// The length of the file to upload; zero for a download.
    var uploadLength: Int
    /// A Boolean value indicating whether the request has header fields, which are stored apart.
    var hasSecret: Bool
}

/// The description of a body that has arrived in part.
struct PartDescription: Sendable, Hashable {
    /// The strong validator; `nil` if the body cannot be continued.
    var validator: String?
    var effectiveURL: String
    var totalLength: Int?
    var status: Int
    /// The header fields of the response, unless they exceed ``headerLimit`` bytes.
    var headers = HTTPHeaders()

    static let headerLimit = 16_384
}

/// The end of a transfer.
struct EndedTransfer: Sendable {
    var transfer: UInt64
    var event: UInt64
    var outcome: TransferEvent.Outcome
    /// The body, if it is small: its file is written again from it after a loss of power.
    var body: [UInt8]?
}

extension JournalRecord: WireEncodable, WireDecodable {
    private enum Tag: UInt8 {
        case counters = 1, boot, session, sessionRemoved, added, response, mark, uploadLocation, paused, ended
        case acknowledged
    }

    func write(to writer: inout WireWriter) {
        switch self {
        case .counters(let nextTransfer, let nextEvent):
            writer.append(Tag.counters.rawValue)
            writer.append(nextTransfer)
            writer.append(nextEvent)
        case .boot(let boot):
            writer.append(Tag.boot.rawValue)
            writer.append(boot)
        case .session(let number, let application, let identity, let configuration):
            writer.append(Tag.session.rawValue)
            writer.append(number)
            writer.append(application)
            writer.append(identity)
            writer.append(configuration)
        case .sessionRemoved(let number):
            writer.append(Tag.sessionRemoved.rawValue)
            writer.append(number)
        case .added(let added):
            writer.append(Tag.added.rawValue)
            writer.append(added)
        case .response(let transfer, let part):
            writer.append(Tag.response.rawValue)
            writer.append(transfer)
            writer.append(part)
        case .mark(let transfer, let offset):
            writer.append(Tag.mark.rawValue)
            writer.append(transfer)
            writer.append(Int64(offset))
        case .uploadLocation(let transfer, let url, let requiresPublicAddress):
            writer.append(Tag.uploadLocation.rawValue)
            writer.append(transfer)
            writer.append(url)
            writer.append(requiresPublicAddress)
        case .paused(let transfer, let isPaused):
            writer.append(Tag.paused.rawValue)
            writer.append(transfer)
            writer.append(isPaused)
        case .ended(let ended):
            writer.append(Tag.ended.rawValue)
            writer.append(ended)
        case .acknowledged(let events):
            writer.append(Tag.acknowledged.rawValue)
            writer.append(list: events) { $0.append($1) }
        }
    }

    init(from reader: inout WireReader) throws(WireError) {
        switch try reader.enumeration(Tag.self) {
        case .counters: self = .counters(nextTransfer: try reader.integer(), nextEvent: try reader.integer())
        case .boot: self = .boot(try reader.text())
        case .session:
            self = .session(
                number: try reader.integer(),
                application: try reader.text(),
                identity: try reader.blob(limit: 64),
                try TransferSessionConfiguration(from: &reader)
            )
        case .sessionRemoved: self = .sessionRemoved(number: try reader.integer())
        case .added: self = .added(try AddedTransfer(from: &reader))
        case .response: self = .response(transfer: try reader.integer(), try PartDescription(from: &reader))
        case .mark: self = .mark(transfer: try reader.integer(), offset: try reader.length())
        case .uploadLocation:
            self = .uploadLocation(
                transfer: try reader.integer(),
                url: try reader.text(),
                requiresPublicAddress: try reader.boolean()
            )
        case .paused: self = .paused(transfer: try reader.integer(), try reader.boolean())
        case .ended: self = .ended(try EndedTransfer(from: &reader))
        case .acknowledged:
            self = .acknowledged(try reader.list { reader throws(WireError) in try reader.integer(UInt64.self) })
        }
    }
}

extension AddedTransfer: WireEncodable, WireDecodable {
    /// Appends the transfer without the header fields of its request, which are stored apart.
    func write(to writer: inout WireWriter) {
        writer.append(number)
        writer.append(session)
        writer.append(created.nanoseconds)
        writer.append(createdUptime)
        writer.append(boot)
        var request = request
        request.headers = HTTPHeaders()
        writer.append(request)
        writer.append(Int64(uploadLength))
        writer.append(hasSecret)
    }

    init(from reader: inout WireReader) throws(WireError) {
        number = try reader.integer()
        session = try reader.integer()
        created = Timestamp(nanoseconds: try reader.integer())
        createdUptime = try reader.duration()
        boot = try reader.integer()
        request = try TransferRequest(from: &reader)
        uploadLength = try reader.length()
        hasSecret = try reader.boolean()
    }
}

extension PartDescription: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        writer.append(optional: validator) { $0.append($1) }
        writer.append(effectiveURL)
        writer.append(optional: totalLength) { $0.append(Int64($1)) }
        writer.append(Int64(status))
        writer.append(headers)
    }

    package init(from reader: inout WireReader) throws(WireError) {
        validator = try reader.optional { reader throws(WireError) in try reader.text() }
        effectiveURL = try reader.text()
        totalLength = try reader.optional { reader throws(WireError) in try reader.length() }
        status = try reader.length()
        headers = try HTTPHeaders(from: &reader)
    }
}

extension EndedTransfer: WireEncodable, WireDecodable {
    /// The largest body that is kept in the journal.
    static let bodyLimit = 65_536

    func write(to writer: inout WireWriter) {
        writer.append(transfer)
        writer.append(event)
        writer.append(outcome)
        writer.append(optional: body) { $0.append($1) }
    }

    init(from reader: inout WireReader) throws(WireError) {
        transfer = try reader.integer()
        event = try reader.integer()
        outcome = try TransferEvent.Outcome(from: &reader)
        body = try reader.optional { reader throws(WireError) in try reader.blob(limit: Self.bodyLimit) }
    }
}
