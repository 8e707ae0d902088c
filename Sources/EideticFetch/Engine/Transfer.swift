import CCurl
import EideticCore

/// An exchange under way.
///
/// Lives on the engine's thread alone.
final class Transfer {
    /// A head with more bytes than this, all its lines together, is refused.
    static let headLimit = 262_144
    /// Of an answer that is not wanted (an error page) so much is read, so that the connection can be used again.
    static let unwantedLimit = 65_536

    let order: TransferOrder
    let easy: UnsafeMutableRawPointer
    var lists: [UnsafeMutablePointer<curl_slist>] = []
    let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

    private(set) var head: ResponseHead?
    private(set) var body: [UInt8] = []
    /// Why a callback ended the exchange.
    private(set) var failure: EideticError?
    /// When the last byte came, by the engine's clock.
    var lastByte: Duration
    let started: Duration
    let stopsAtStart: Int
    /// Set by callbacks, read and cleared by the engine: a byte came.
    var sawByte = false

    private var incoming = ResponseHead()
    private var headBytes = 0
    private var unwantedBytes = 0
    private var isRecognised = false

    init?(_ order: TransferOrder, now: Duration, stops: Int) {
        guard let easy = curl_easy_init() else { return nil }
        self.order = order
        self.easy = easy
        lastByte = now
        started = now
        stopsAtStart = stops
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        curl_easy_cleanup(easy)
        for list in lists { curl_slist_free_all(list) }
        errorText.deallocate()
    }

    /// Ends the exchange from the engine, or from a callback.
    func fail(_ error: EideticError) { if failure == nil { failure = error } }
}

// MARK: Receiving
extension Transfer {
    /// Takes one line of the head; gives false to end the exchange.
    func receive(headLine line: UnsafeRawBufferPointer) -> Bool {
        sawByte = true
        headBytes += line.count
        guard headBytes <= Self.headLimit else {
            fail(EideticError(.badResponse, "\(order.url): the answer's head is longer than \(Self.headLimit) bytes"))
            return false
        }
        let text = Substring(decoding: line, as: UTF8.self).dropLast(while: \.isNewline)
        if text.isEmpty { return finishHead() }
        if text.hasPrefix("HTTP/") {
            let parts = text.split(separator: " ", maxSplits: 2)
            incoming = ResponseHead(
                status: parts.count > 1 ? Int(parts[1]) ?? 0 : 0,
                reason: parts.count > 2 ? String(parts[2]) : ""
            )
            head = nil
        } else if head == nil, let colon = text.firstIndex(of: ":") {
            let value = text[text.index(after: colon)...].trimmed
            incoming.headers.add(String(text[..<colon].trimmed), String(value))
        }
        return true
    }

    private func finishHead() -> Bool {
        guard incoming.status >= 200, head == nil else { return true }
        head = incoming
        body = []
        guard isWanted, !incoming.isEncoded, let length = incoming.contentLength else { return true }
        guard length <= order.byteLimit else {
            fail(tooLong("announces \(length) bytes"))
            return false
        }
        body.reserveCapacity(min(length, 16 << 20))
        order.onProgress(FetchProgress(received: 0, expected: length))
        return true
    }

    /// Takes a piece of the body; gives false to end the exchange.
    func receive(body piece: UnsafeRawBufferPointer) -> Bool {
        sawByte = true
        guard isWanted else {
            unwantedBytes += piece.count
            return unwantedBytes <= Self.unwantedLimit
        }
        guard body.count + piece.count <= order.byteLimit else {
            fail(tooLong("is longer than the limit"))
            return false
        }
        body.append(contentsOf: piece)
        guard isRecognised || checkPicture(isComplete: false) else { return false }
        order.onProgress(FetchProgress(received: body.count, expected: expectedLength))
        return true
    }

    private var expectedLength: Int? { head.flatMap { $0.isEncoded ? nil : $0.contentLength } }

    private var isWanted: Bool { head.map { (200..<300).contains($0.status) } ?? false }

    private func tooLong(_ what: String) -> EideticError {
        EideticError(.limitExceeded, "\(order.url): the body \(what); the limit is \(order.byteLimit) bytes")
    }
}

// MARK: Recognising
extension Transfer {
    /// Refuses a body that does not begin as a picture, as soon as that can be told.
    private func checkPicture(isComplete: Bool) -> Bool {
        guard order.requiresPicture, isWanted else {
            isRecognised = true
            return true
        }
        switch ImageFormat.detect(body, isComplete: isComplete) {
        case .format: isRecognised = true
        case .needsMore: break
        case .unknown:
            let type = head?.headers["Content-Type"] ?? "no content type"
            let size = body.isEmpty ? "an empty body" : "a body that is no picture"
            fail(EideticError(.notAPicture, "\(order.url): \(size) (\(type))", httpStatus: head?.status))
            return false
        }
        return true
    }

    /// The last look at a complete body.
    func checkCompleteBody() { if !isRecognised { _ = checkPicture(isComplete: true) } }

    /// Gives the body away, without a copy.
    func takeBody() -> [UInt8] {
        defer { body = [] }
        return body
    }
}

extension Substring {
    var trimmed: Substring {
        var result = drop { $0.isWhitespace }
        while result.last?.isWhitespace == true { result.removeLast() }
        return result
    }

    fileprivate func dropLast(while isUnwanted: (Character) -> Bool) -> Substring {
        var result = self
        while let last = result.last, isUnwanted(last) { result.removeLast() }
        return result
    }
}
