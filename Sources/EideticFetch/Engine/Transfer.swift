import CCurl
import EideticCore
import Glibc

/// An exchange under way.
///
/// Lives on the engine's thread alone.
final class Exchange {
    /// Why a transfer takes no bytes for now.
    struct PauseReason: OptionSet {
        let rawValue: Int

        /// Who reads the body is behind.
        static let reader = PauseReason(rawValue: 1)
        /// Downloads are suspended.
        static let suspended = PauseReason(rawValue: 2)
        /// The rate limit is used up.
        static let rate = PauseReason(rawValue: 4)
    }

    /// What becomes of a piece of the body.
    enum ReceiveResult { case taken, refused, later }

    /// A head with more bytes than this, all its lines together, is refused.
    static let headLimit = 262_144
    /// Of an answer that is not wanted (an error page) so much is read, so that the connection can be used again.
    static let ignoredBodyLimit = 65_536

    let request: ExchangeRequest
    /// How long it waited for a slot.
    let queued: Duration
    let handle: EasyHandle
    var easy: UnsafeMutableRawPointer { handle.pointer }

    private(set) var head: ResponseHead?
    private(set) var body: [UInt8] = []
    /// Why a callback ended the exchange.
    private(set) var failure: EideticError?
    private(set) var hasUnrequestedRange = false
    var pauseReasons: PauseReason = [] {
        didSet {
            guard oldValue.isEmpty != pauseReasons.isEmpty else { return }
            if pauseReasons.isEmpty { pausedTime += clock.now - pausedSince } else { pausedSince = clock.now }
            wasPaused = true
        }
    }
    /// Whether it was held back at any time.
    private(set) var wasPaused = false
    /// For how long it was held back until the last time that it went on, and since when it is now.
    private(set) var pausedTime: Duration = .zero
    private(set) var pausedSince: Duration = .zero
    /// How fast all transfers together may be; `nil` for no limit.
    var rateLimiter: RateLimiter?
    /// When the last byte came, by the engine's clock.
    var lastActivity: Duration
    let startTime: Duration
    let stopCountAtStart: Int
    let clock: ActiveClock

    private var incomingHead = ResponseHead()
    private var headBytes = 0
    private var ignoredBytes = 0
    private var receivedBytes = 0
    /// The length of the whole body; `nil` where it is not known.
    private var expectedLength: Int?
    /// The length that a continued body must have in the end; `nil` for every other.
    private var resumedLength: Int?
    private var isRecognised = false
    private var file: BodyFile?
    private let fileSystem: FileSystem

    init(
        request: ExchangeRequest,
        queued: Duration,
        handle: EasyHandle,
        fileSystem: FileSystem,
        clock: ActiveClock
    ) {
        self.request = request
        self.queued = queued
        self.handle = handle
        self.fileSystem = fileSystem
        self.clock = clock
        lastActivity = clock.now
        startTime = clock.now
        stopCountAtStart = clock.stopCount
        handle.errorBuffer.pointee = 0
    }

    /// Ends the exchange from the engine, or from a callback; the first reason counts.
    func fail(_ error: EideticError) { if failure == nil { failure = error } }
}

// MARK: The head
extension Exchange {
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
        lastActivity = clock.now
        headBytes += line.count
        // An address was refused, and libcurl found another one.
        if failure != nil { return false }
        guard headBytes <= Self.headLimit else {
            fail(
                EideticError(
                    .badResponse,
                    message: "\(request.url): the answer's head is longer than \(Self.headLimit) bytes"
                )
            )
            return false
        }
        if line.startsWithStatusLine {
            incomingHead = ResponseHead(statusLine: line)
            head = nil
        } else if line.isBlank {
            return finishHead()
        } else if head == nil, let colon = line.index(of: UInt8(ascii: ":"), from: 0) {
            incomingHead.headers.add(line.text(from: 0, to: colon), for: line.text(from: colon + 1, to: line.count))
        }
        return true
    }

    private func finishHead() -> Bool {
        guard incomingHead.status >= 200, head == nil else { return true }
        head = incomingHead
        guard incomingHead.isSuccess else { return true }
        guard startBody(for: incomingHead) else { return false }
        guard !incomingHead.hasContentCoding, let length = incomingHead.contentLength else { return true }
        guard length <= request.fetchRequest.byteLimit.bytes - body.count else {
            fail(bodyTooLong("announces \(length) bytes"))
            return false
        }
        expectedLength = body.count + length
        if request.channel == nil, request.filePath == nil { body.reserveCapacity(body.count + min(length, 16 << 20)) }
        request.onProgress(FetchProgress(received: receivedBytes, expected: expectedLength))
        return true
    }

    /// Begins with what is there already, where the server continues it; gives false where it sends something else.
    private func startBody(for head: ResponseHead) -> Bool {
        body = []
        receivedBytes = 0
        expectedLength = nil
        resumedLength = nil
        guard head.status == 206 else { return true }
        if let partialBody = request.partialBody {
            if let length = partialBody.resumedLength(from: head) {
                resumedLength = length
                body = partialBody.bytes
                receivedBytes = body.count
                return true
            }
        } else if request.headers["Range"] != nil {
            return true
        }
        hasUnrequestedRange = true
        let range = head.headers["Content-Range"] ?? "none"
        fail(
            EideticError(
                .badResponse,
                message: "\(request.url): the server sent a range that was not asked for (\(range))"
            )
        )
        return false
    }
}

// MARK: The body
extension Exchange {
    /// Takes a piece of the body, unless it is to come later or the exchange is to end.
    func receive(body chunk: UnsafeRawBufferPointer) -> ReceiveResult {
        if failure != nil { return .refused }
        guard pauseReasons.isEmpty else { return .later }
        // Asked before the rate limit: a piece that must come again is not to be paid for twice.
        if isRecognised, request.channel?.hasRoom(for: chunk.count) == false {
            pauseReasons.insert(.reader)
            return .later
        }
        if let rateLimiter, !rateLimiter.consume(chunk.count) {
            pauseReasons.insert(.rate)
            return .later
        }
        guard head?.isSuccess == true else {
            lastActivity = clock.now
            ignoredBytes += chunk.count
            return ignoredBytes <= Self.ignoredBodyLimit ? .taken : .refused
        }
        guard chunk.count <= request.fetchRequest.byteLimit.bytes - receivedBytes else {
            fail(bodyTooLong("is longer than the limit"))
            return .refused
        }
        if let channel = request.channel, isRecognised {
            channel.append(chunk)
        } else if let file {
            guard attemptWrite({ () throws(SystemError) in try file.write(chunk) }) else { return .refused }
        } else {
            guard append(chunk) else { return .refused }
        }
        lastActivity = clock.now
        receivedBytes += chunk.count
        request.onProgress(FetchProgress(received: receivedBytes, expected: expectedLength))
        return .taken
    }

    /// Takes a piece before it is known what comes, and of a body that is collected every one.
    private func append(_ chunk: UnsafeRawBufferPointer) -> Bool {
        if collectsBody || !body.isEmpty {
            body.append(contentsOf: chunk)
            return isRecognised || recogniseBody(isComplete: false)
        }
        // Mostly the first piece says it, and goes on without a copy.
        guard recognise(chunk, isComplete: false) else { return false }
        if !isRecognised { body.append(contentsOf: chunk) }
        return true
    }

    /// Whether the body is handed out as a whole.
    private var collectsBody: Bool { request.channel == nil && request.filePath == nil }

    private func recogniseBody(isComplete: Bool) -> Bool {
        let bytes = consumeBody()
        let isValid = bytes.withUnsafeBytes { recognise($0, isComplete: isComplete) }
        if collectsBody || !isRecognised { body = bytes }
        return isValid
    }

    /// Refuses a body that does not begin as a picture, as soon as that can be told; else lets its beginning go on.
    private func recognise(_ start: UnsafeRawBufferPointer, isComplete: Bool) -> Bool {
        if request.requiresImage {
            switch ImageFormat.detect(in: start, isComplete: isComplete) {
            case .format: break
            case .needsMoreBytes: return true
            case .unknown:
                fail(
                    .notAnImage(url: request.url, headers: head?.headers, isEmpty: start.isEmpty, status: head?.status)
                )
                return false
            }
        }
        isRecognised = true
        if let channel = request.channel, let head {
            channel.open(with: head)
            if !start.isEmpty { channel.append(start) }
        }
        guard let path = request.filePath else { return true }
        return attemptWrite { () throws(SystemError) in
            let file = try BodyFile(path: path, fileSystem: fileSystem)
            try file.write(start)
            self.file = file
        }
    }

    private func attemptWrite(_ operation: () throws(SystemError) -> Void) -> Bool {
        do throws(SystemError) {
            try operation()
            return true
        } catch {
            fail(EideticError(error))
            return false
        }
    }

    /// The last look at a complete body.
    func finishBody() {
        guard head?.isSuccess == true else { return }
        if let resumedLength, receivedBytes != resumedLength {
            // What is there already does not fit what this server continues it with.
            hasUnrequestedRange = receivedBytes > resumedLength || request.filePath != nil
            let counts = "\(receivedBytes) bytes came in parts, of \(resumedLength)"
            return fail(EideticError(.lengthMismatch, message: "\(request.url): \(counts)"))
        }
        guard isRecognised || recogniseBody(isComplete: true), let file else { return }
        _ = attemptWrite { () throws(SystemError) in try file.commit() }
    }

    /// Removes the file of a body that is not complete.
    func discardFile() { file = nil }

    /// Gives the body away, without a copy.
    func consumeBody() -> [UInt8] {
        defer { body = [] }
        return body
    }

    private func bodyTooLong(_ fault: String) -> EideticError {
        EideticError(
            .limitExceeded,
            message: "\(request.url): the body \(fault); the limit is \(request.fetchRequest.byteLimit.bytes) bytes"
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
        reasonPhrase = line.text(from: end, to: line.count)
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
        while first < last, Self.isWhitespace(self[first]) { first += 1 }
        while first < last, Self.isWhitespace(self[last - 1]) { last -= 1 }
        return String(decoding: UnsafeRawBufferPointer(rebasing: self[first..<last]), as: UTF8.self)
    }

    /// Whether there is nothing but white space.
    fileprivate var isBlank: Bool { first.map(Self.isWhitespace) ?? true && allSatisfy(Self.isWhitespace) }

    /// Whether a status line is here.
    fileprivate var startsWithStatusLine: Bool {
        baseAddress.map { count >= 5 && memcmp($0, "HTTP/", 5) == 0 } ?? false
    }

    private static func isWhitespace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }
}
