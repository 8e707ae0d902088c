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
    /// The header fields of the response, as far as they are kept.
    var headers = HTTPHeaders()

    private static let headerLimit = 16_384

    /// Returns the fields of a response that are kept: all of them or, if they are too many, those that describe the
    /// body.
    static func keptFields(of headers: HTTPHeaders) -> HTTPHeaders {
        func isShort(_ headers: HTTPHeaders) -> Bool {
            headers.fields.count <= TransferLimits.fieldCount
                && headers.fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count } <= headerLimit
        }
        let described = headers.filter { $0.lowercased().hasPrefix("content-") }
        return [headers, described].first(where: isShort) ?? HTTPHeaders()
    }
}

struct EndedTransfer: Sendable {
    var transfer: UInt64
    var event: UInt64
    var outcome: TransferEvent.Outcome
    /// The body, if it is small: its file is written again from it after a loss of power.
    var body: [UInt8]?
}

extension JournalRecord: WireRecord {
    static let layout = Layout<Self>(
        Case(1, counters) { if case .counters(let transfer, let event) = $0 { (transfer, event) } else { nil } },
        Case(2, boot) { if case .boot(let boot) = $0 { boot } else { nil } },
        Case(3, session, .value, .value, .bytes(limit: 64), .value) {
            if case .session(let number, let application, let identity, let configuration) = $0 {
                (number, application, identity, configuration)
            } else {
                nil
            }
        },
        Case(4, sessionRemoved) { if case .sessionRemoved(let number) = $0 { number } else { nil } },
        Case(13, added) { if case .added(let added) = $0 { added } else { nil } },
        Case(6, response) { if case .response(let transfer, let part) = $0 { (transfer, part) } else { nil } },
        Case(7, mark, .value, .number()) {
            if case .mark(let transfer, let offset) = $0 { (transfer, offset) } else { nil }
        },
        Case(8, uploadLocation) {
            if case .uploadLocation(let transfer, let url, let isPublic) = $0 { (transfer, url, isPublic) } else { nil }
        },
        Case(9, paused) { if case .paused(let transfer, let isPaused) = $0 { (transfer, isPaused) } else { nil } },
        Case(12, ended) { if case .ended(let ended) = $0 { ended } else { nil } },
        Case(11, acknowledged) { if case .acknowledged(let events) = $0 { events } else { nil } }
    )
}

extension AddedTransfer: WireRecord {
    static let layout = Layout(
        Self.init,
        Field(\.number),
        Field(\.session),
        Field(\.created),
        Field(\.createdUptime),
        Field(\.boot),
        Field(\.requestWithoutHeaders),
        Field(\.uploadLength, .number()),
        Field(\.hasSecret)
    )

    /// The request without its header fields, which are stored apart.
    private var requestWithoutHeaders: TransferRequest {
        var request = request
        request.headers = HTTPHeaders()
        return request
    }
}

extension PartDescription: WireRecord {
    static let layout = Layout(
        Self.init,
        Field(\.validator),
        Field(\.effectiveURL),
        Field(\.totalLength, .optional(.number())),
        Field(\.status, .number()),
        Field(\.headers)
    )
}

extension EndedTransfer: WireRecord {
    /// The largest body that is kept in the journal.
    static let bodyLimit = 65_536

    static let layout = Layout(
        Self.init,
        Field(\.transfer),
        Field(\.event),
        Field(\.outcome),
        // A server does not know what its bytes become: a part of a record that is torn is taken for no record.
        Field(\.body, .optional(.masked(limit: bodyLimit)))
    )
}

extension Layout<[UInt8]> {
    /// At most `limit` bytes, each combined with one of eight random bytes that are written before them.
    static func masked(limit: Int) -> Self {
        let maskSize = MemoryLayout<UInt64>.size
        return Layout.bytes(limit: maskSize + limit).compactMap(
            to: { written in
                guard written.count >= maskSize else { return nil }
                return written.withUnsafeBytes { written in
                    let body = UnsafeRawBufferPointer(rebasing: written.dropFirst(maskSize))
                    return combine(body, with: written.loadUnaligned(as: UInt64.self))
                }
            },
            from: { bytes in
                let mask = UInt64.random(in: .min ... .max)
                return withUnsafeBytes(of: mask) { Array($0) } + bytes.withUnsafeBytes { combine($0, with: mask) }
            }
        )
    }

    /// Returns the bytes, each combined with that of the mask at its place; eight at a time, as bodies are long.
    private static func combine(_ bytes: UnsafeRawBufferPointer, with mask: UInt64) -> [UInt8] {
        Array(unsafeUninitializedCapacity: bytes.count) { target, count in
            count = bytes.count
            let words = UnsafeMutableRawBufferPointer(target), end = count & ~7
            for offset in stride(from: 0, to: end, by: 8) {
                let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self) ^ mask
                words.storeBytes(of: word, toByteOffset: offset, as: UInt64.self)
            }
            withUnsafeBytes(of: mask) { mask in
                for offset in end..<count { target[offset] = bytes[offset] ^ mask[offset & 7] }
            }
        }
    }
}
