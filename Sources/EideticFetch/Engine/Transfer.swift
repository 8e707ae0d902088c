import CCurl
import EideticCore
import Glibc

/// An exchange under way.
///
/// Lives on the engine's thread alone.
final class Transfer {
    /// Why a transfer takes no bytes for now.
    struct Pause: OptionSet {
        let rawValue: Int

        /// Who reads the body is behind.
        static let reader = Pause(rawValue: 1)
        /// Downloads are suspended.
        static let suspended = Pause(rawValue: 2)
        /// The rate limit is used up.
        static let rate = Pause(rawValue: 4)
    }

    /// What becomes of a piece of the body.
    enum Reception { case taken, refused, later }

    /// A head with more bytes than this, all its lines together, is refused.
    static let headLimit = 262_144
    /// Of an answer that is not wanted (an error page) so much is read, so that the connection can be used again.
    static let unwantedLimit = 65_536

    let order: TransferOrder
    /// How long it waited for a slot.
    let queued: Duration
    let handle: EasyHandle
    var easy: UnsafeMutableRawPointer { handle.pointer }

    private(set) var head: ResponseHead?
    private(set) var body: [UInt8] = []
    /// Why a callback ended the exchange.
    private(set) var failure: EideticError?
    private(set) var isWrongRange = false
    var pauses: Pause = [] {
        didSet {
            guard oldValue.isEmpty != pauses.isEmpty else { return }
            if pauses.isEmpty { held += clock.now - heldSince } else { heldSince = clock.now }
            wasHeld = true
        }
    }
    /// Whether it was held back at any time.
    private(set) var wasHeld = false
    /// For how long it was held back until the last time that it went on, and since when it is now.
    private(set) var held: Duration = .zero
    private(set) var heldSince: Duration = .zero
    /// How fast all transfers together may be; `nil` for no limit.
    var rate: RateLimit?
    /// When the last byte came, by the engine's clock.
    var lastByte: Duration
    let started: Duration
    let stopsAtStart: Int
    let clock: ActiveClock

    private var incoming = ResponseHead()
    private var headBytes = 0
    private var unwantedBytes = 0
    private var receivedBytes = 0
    /// The length of the whole body; `nil` where it is not known.
    private var expectedLength: Int?
    /// The length that a continued body must have in the end; `nil` for every other.
    private var continuedLength: Int?
    private var isRecognised = false
    private var file: BodyFile?
    private let files: FileSystem

    init(
        _ order: TransferOrder,
        queued: Duration,
        _ handle: EasyHandle,
        _ files: FileSystem,
        _ clock: ActiveClock
    ) {
        self.order = order
        self.queued = queued
        self.handle = handle
        self.files = files
        self.clock = clock
        lastByte = clock.now
        started = clock.now
        stopsAtStart = clock.stops
        handle.errorText.pointee = 0
    }

    /// Ends the exchange from the engine, or from a callback; the first reason counts.
    func fail(_ error: EideticError) { if failure == nil { failure = error } }
}

// MARK: The head
extension Transfer {
    /// Takes lines of the head; gives false to end the exchange.
    ///
    /// What came while the transfer was held back comes in one piece: libcurl keeps one buffer for all lines.
    func receive(head lines: UnsafeRawBufferPointer) -> Bool {
        var start = 0
        while start < lines.count {
            let end = lines.index(of: UInt8(ascii: "\n"), from: start).map { $0 + 1 } ?? lines.count
            guard receive(headLine: UnsafeRawBufferPointer(rebasing: lines[start..<end])) else { return false }
            start = end
        }
        return true
    }

    private func receive(headLine line: UnsafeRawBufferPointer) -> Bool {
        lastByte = clock.now
        headBytes += line.count
        // An address was refused, and libcurl found another one.
        if failure != nil { return false }
        guard headBytes <= Self.headLimit else {
            fail(EideticError(.badResponse, "\(order.url): the answer's head is longer than \(Self.headLimit) bytes"))
            return false
        }
        if line.beginsHead {
            incoming = ResponseHead(statusLine: line)
            head = nil
        } else if line.isBlank {
            return finishHead()
        } else if head == nil, let colon = line.index(of: UInt8(ascii: ":"), from: 0) {
            incoming.headers.add(line.text(from: 0, to: colon), line.text(from: colon + 1, to: line.count))
        }
        return true
    }

    private func finishHead() -> Bool {
        guard incoming.status >= 200, head == nil else { return true }
        head = incoming
        guard incoming.isSuccess else { return true }
        guard beginBody(incoming) else { return false }
        guard !incoming.isEncoded, let length = incoming.contentLength else { return true }
        guard length <= order.request.byteLimit.bytes - body.count else {
            fail(tooLong("announces \(length) bytes"))
            return false
        }
        expectedLength = body.count + length
        if order.channel == nil, order.file == nil { body.reserveCapacity(body.count + min(length, 16 << 20)) }
        order.onProgress(FetchProgress(received: receivedBytes, expected: expectedLength))
        return true
    }

    /// Begins with what is there already, where the server continues it; gives false where it sends something else.
    private func beginBody(_ head: ResponseHead) -> Bool {
        body = []
        receivedBytes = 0
        expectedLength = nil
        continuedLength = nil
        guard head.status == 206 else { return true }
        if let partial = order.partial {
            if let length = partial.continuedLength(head) {
                continuedLength = length
                body = partial.bytes
                receivedBytes = body.count
                return true
            }
        } else if order.headers["Range"] != nil {
            return true
        }
        isWrongRange = true
        let range = head.headers["Content-Range"] ?? "none"
        fail(EideticError(.badResponse, "\(order.url): the server sent a range that was not asked for (\(range))"))
        return false
    }
}

// MARK: The body
extension Transfer {
    /// Takes a piece of the body, unless it is to come later or the exchange is to end.
    func receive(body piece: UnsafeRawBufferPointer) -> Reception {
        if failure != nil { return .refused }
        guard pauses.isEmpty else { return .later }
        // Asked before the rate limit: a piece that must come again is not to be paid for twice.
        if isRecognised, order.channel?.hasRoom(for: piece.count) == false {
            pauses.insert(.reader)
            return .later
        }
        if let rate, !rate.take(piece.count) {
            pauses.insert(.rate)
            return .later
        }
        guard head?.isSuccess == true else {
            lastByte = clock.now
            unwantedBytes += piece.count
            return unwantedBytes <= Self.unwantedLimit ? .taken : .refused
        }
        guard piece.count <= order.request.byteLimit.bytes - receivedBytes else {
            fail(tooLong("is longer than the limit"))
            return .refused
        }
        if let channel = order.channel, isRecognised {
            channel.take(piece)
        } else if let file {
            guard write({ () throws(SystemError) in try file.write(piece) }) else { return .refused }
        } else {
            guard take(piece) else { return .refused }
        }
        lastByte = clock.now
        receivedBytes += piece.count
        order.onProgress(FetchProgress(received: receivedBytes, expected: expectedLength))
        return .taken
    }

    /// Takes a piece before it is known what comes, and of a body that is collected every one.
    private func take(_ piece: UnsafeRawBufferPointer) -> Bool {
        if isCollected || !body.isEmpty {
            body.append(contentsOf: piece)
            return isRecognised || recogniseBody(isComplete: false)
        }
        // Mostly the first piece says it, and goes on without a copy.
        guard recognise(piece, isComplete: false) else { return false }
        if !isRecognised { body.append(contentsOf: piece) }
        return true
    }

    /// Whether the body is handed out as a whole.
    private var isCollected: Bool { order.channel == nil && order.file == nil }

    private func recogniseBody(isComplete: Bool) -> Bool {
        let start = takeBody()
        let isGood = start.withUnsafeBytes { recognise($0, isComplete: isComplete) }
        if isCollected || !isRecognised { body = start }
        return isGood
    }

    /// Refuses a body that does not begin as a picture, as soon as that can be told; else lets its beginning go on.
    private func recognise(_ start: UnsafeRawBufferPointer, isComplete: Bool) -> Bool {
        if order.requiresPicture {
            switch ImageFormat.detect(start, isComplete: isComplete) {
            case .format: break
            case .needsMore: return true
            case .unknown:
                fail(.notAPicture(order.url, head?.headers, isEmpty: start.isEmpty, status: head?.status))
                return false
            }
        }
        isRecognised = true
        if let channel = order.channel, let head {
            channel.begin(head)
            if !start.isEmpty { channel.take(start) }
        }
        guard let path = order.file else { return true }
        return write { () throws(SystemError) in
            let file = try BodyFile(path, files)
            try file.write(start)
            self.file = file
        }
    }

    private func write(_ body: () throws(SystemError) -> Void) -> Bool {
        do throws(SystemError) {
            try body()
            return true
        } catch {
            fail(EideticError(error))
            return false
        }
    }

    /// The last look at a complete body.
    func finishBody() {
        guard head?.isSuccess == true else { return }
        if let continuedLength, receivedBytes != continuedLength {
            // What is there already does not fit what this server continues it with.
            isWrongRange = receivedBytes > continuedLength || order.file != nil
            let counts = "\(receivedBytes) bytes came in parts, of \(continuedLength)"
            return fail(EideticError(.lengthMismatch, "\(order.url): \(counts)"))
        }
        guard isRecognised || recogniseBody(isComplete: true), let file else { return }
        _ = write { () throws(SystemError) in try file.complete() }
    }

    /// Removes the file of a body that is not complete.
    func dropFile() { file = nil }

    /// Gives the body away, without a copy.
    func takeBody() -> [UInt8] {
        defer { body = [] }
        return body
    }

    private func tooLong(_ what: String) -> EideticError {
        EideticError(
            .limitExceeded,
            "\(order.url): the body \(what); the limit is \(order.request.byteLimit.bytes) bytes"
        )
    }
}

extension ResponseHead {
    /// Reads `HTTP/1.1 404 Not Found`.
    fileprivate init(statusLine line: UnsafeRawBufferPointer) {
        var start = line.index(of: UInt8(ascii: " "), from: 0) ?? line.count
        while start < line.count, line[start] == UInt8(ascii: " ") { start += 1 }
        let end = line.index(of: UInt8(ascii: " "), from: start) ?? line.count
        status = Int(line.text(from: start, to: end)) ?? 0
        reason = line.text(from: end, to: line.count)
        headers = HTTPHeaders(capacity: 16)
    }
}

extension UnsafeRawBufferPointer {
    /// Where `byte` stands first, at `start` or behind it.
    fileprivate func index(of byte: UInt8, from start: Int) -> Int? {
        guard let baseAddress, start < count else { return nil }
        return memchr(baseAddress + start, Int32(byte), count - start).map { UnsafeRawPointer($0) - baseAddress }
    }

    /// The bytes of a range as text, without white space at its ends.
    fileprivate func text(from first: Int, to last: Int) -> String {
        var (first, last) = (first, last)
        while first < last, Self.isWhite(self[first]) { first += 1 }
        while first < last, Self.isWhite(self[last - 1]) { last -= 1 }
        return String(decoding: UnsafeRawBufferPointer(rebasing: self[first..<last]), as: UTF8.self)
    }

    /// Whether there is nothing but white space.
    fileprivate var isBlank: Bool { first.map(Self.isWhite) ?? true && allSatisfy(Self.isWhite) }

    /// Whether a status line is here.
    fileprivate var beginsHead: Bool { baseAddress.map { count >= 5 && memcmp($0, "HTTP/", 5) == 0 } ?? false }

    private static func isWhite(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }
}
