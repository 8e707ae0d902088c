@testable import EideticFetch
import Testing

/// The time-outs of an exchange, without an engine.
@Suite("Exchange timer")
struct ExchangeTimerTests {
    private static let limits: FetchRequest = {
        var request: FetchRequest = "https://example.org/"
        request.timeout = .seconds(10)
        request.minimumBytesPerSecond = 0
        request.totalTimeout = .seconds(60)
        return request
    }()

    @Test("L04 an exchange times out when no byte has arrived for its time-out")
    func silence() {
        var timer = ExchangeTimer(at: .seconds(100))
        #expect(timer.check(at: .seconds(104), limits: Self.limits, leastRate: 0) == (.seconds(6), nil))
        timer.recordActivity(byteCount: 1, at: .seconds(104))
        #expect(timer.check(at: .seconds(113), limits: Self.limits, leastRate: 0) == (.seconds(1), nil))
        #expect(timer.check(at: .seconds(114), limits: Self.limits, leastRate: 0).fault == "no byte for 10.0 s")
    }

    @Test("L04 the time of a pause counts for no time-out")
    func pause() {
        var timer = ExchangeTimer(at: .zero)
        timer.pause(at: .seconds(5))
        #expect(timer.check(at: .seconds(500), limits: Self.limits, leastRate: 0) == (.seconds(10), nil))
        timer.endPause(at: .seconds(500))
        #expect(timer.activeTime(at: .seconds(502)) == .seconds(7))
        timer.recordActivity(at: .seconds(554))
        let check = timer.check(at: .seconds(555), limits: Self.limits, leastRate: 0)
        #expect(check == (.zero, "not complete after 60.0 s"))
    }

    @Test("L04 a response that is slower than the larger of both least rates times out at the end of a period")
    func rate() {
        var limits = Self.limits
        limits.minimumBytesPerSecond = 10
        var timer = ExchangeTimer(at: .zero)
        for second in 0..<20 { timer.recordActivity(byteCount: 50, at: .seconds(second)) }
        var hurried = timer
        #expect(timer.check(at: .seconds(20), limits: limits, leastRate: 0).fault == nil)
        #expect(hurried.check(at: .seconds(20), limits: limits, leastRate: 51).fault != nil)
    }

    @Test("L04 the total time-out of a repeated exchange counts from the start of the first one, without its pauses")
    func repetition() {
        var first = ExchangeTimer(at: .zero)
        first.pause(at: .seconds(10))
        first.endPause(at: .seconds(40))
        first.pause(at: .seconds(80))
        var timer = ExchangeTimer(repeating: first, at: .seconds(90))
        #expect(timer.activeTime(at: .seconds(90)) == .seconds(50))
        #expect(timer.check(at: .seconds(96), limits: Self.limits, leastRate: 0) == (.seconds(4), nil))
    }
}

/// The lines of a head, without a server.
@Suite("Head lines")
struct HeadLineTests {
    private func heads(of text: String) -> [ResponseHead] {
        var parser = HeadLineParser()
        var heads: [ResponseHead] = []
        _ = Array(text.utf8).withUnsafeBytes { bytes in
            bytes.allLines { line in
                if parser.append(line) {
                    heads.append(parser.head)
                    parser.isComplete = parser.head.status >= 200
                }
                return true
            }
        }
        #expect(parser.byteCount == text.utf8.count)
        return heads
    }

    @Test("L04 lines that arrive together are heads of their own, and fields of a trailer belong to none")
    func lines() {
        let found = heads(
            of: "HTTP/1.1 103 Early\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nX: 1\r\nX:  2 \r\n\r\nTrailer: t\r\n\r\n"
        )
        #expect(found.map(\.status) == [103, 200])
        #expect(found.last?.headers.fields.map(\.value) == ["1", "2"])
    }

    /// libcurl sends a request again after 401, and passes on the lines of the further head.
    @Test("L04 a field of a head or trailer that looks like a status line begins no head, except after 401")
    func statusLines() {
        let found = heads(
            of: "HTTP/1.1 401 No\r\n\r\nHTTP/1.1 200 OK\r\nhttp/x: y\r\nX: 1\r\n\r\nhttp/x: y\r\n\r\n"
        )
        #expect(found.map(\.status) == [401, 200])
        #expect(found.last?.headers.fields.map(\.value) == ["y", "1"])
    }

    /// RFC 9112, section 5.2: a continuation line is replaced with a space.
    @Test("L04 a continuation line continues its field, and a line of spaces does not end the head")
    func continuationLines() {
        let found = heads(
            of: "http/1.1 200 OK\r\n lost: x\r\nContent-Encoding:\r\n\tgzip\r\nX: a\r\n  \r\n b: c \r\nY: d\r\n\r\n"
        )
        #expect(found.map(\.status) == [200])
        #expect(found.last?.headers.fields.map(\.value) == ["gzip", "a b: c", "d"])
        #expect(found.last?.framingFault == "begins with a continuation line")
    }

    @Test("L04 a body of another response begins with none of the earlier one's values, but that it is kept")
    func body() {
        var body = ReceivedBody()
        body.isKept = true
        body.expectedLength = 9
        body.start(with: [1, 2], resumedLength: 5)
        #expect(body.receivedCount == 2)
        #expect(body.expectedLength == nil)
        #expect(body.isKept)
        #expect(body.consume() == [1, 2])
        #expect(body.bytes.isEmpty)
        body.start()
        #expect(body.resumedLength == nil)
    }
}
