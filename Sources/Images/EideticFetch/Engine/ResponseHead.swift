import EideticCore
import EideticHTTP
import Glibc

/// The head of a response: status line and header section.
struct ResponseHead: Sendable, Hashable {
    var status = 0
    var reasonPhrase = ""
    var headers = HTTPHeaders()
    /// The time at which the exchange started.
    var requestTime = Timestamp(nanoseconds: 0)
    /// The time at which the head was complete.
    var responseTime = Timestamp(nanoseconds: 0)

    /// A Boolean value indicating whether a cache has the response, so that no request was sent.
    var isFromCache = false

    /// Boolean values indicating whether a field that says where the body ends is written so that libcurl ignores it.
    private var hasIgnoredLength = false
    private var hasIgnoredTransferCoding = false
    private var beginsWithContinuation = false

    var cached: ResponseFreshness.Response {
        .init(status: status, fields: headers.fields, requestTime: requestTime, responseTime: responseTime)
    }

    /// A Boolean value indicating whether the response names another URL to load instead.
    ///
    /// One that offers a choice does so if it names the server's own.
    /// - SeeAlso: RFC 9110, section 15.4.1.
    var isRedirect: Bool {
        switch status {
        case 300: headers.values(for: "Location").first.map { !$0.isEmpty } ?? false
        case 301, 302, 303, 307, 308: true
        default: false
        }
    }

    /// The value of the `Content-Length` field; `nil` if it is missing, invalid or too large for any body, or has no
    /// meaning.
    ///
    /// It may be there several times with the same value.
    var contentLength: Int? { endsByLength ? announcedLengths.first.flatMap(Int.init) : nil }

    /// A Boolean value indicating whether a `Content-Length` field says where the body ends.
    ///
    /// It does not in responses of status 204 and 304, which have no body, and beside chunks.
    /// - SeeAlso: RFC 9112, section 6.3.
    var endsByLength: Bool {
        status != 204 && status != 304 && !codings(in: "Transfer-Encoding").contains("chunked")
    }

    /// The fault of a head that leaves open where the body begins or ends; otherwise, `nil`.
    ///
    /// - SeeAlso: RFC 9110, section 7.8; RFC 9112, sections 5.2 and 6.3.
    var framingFault: String? {
        if status == 101 { return "switches to a protocol that was not requested" }
        if beginsWithContinuation { return "begins with a continuation line" }
        if hasUnrequestedTransferCoding { return "has a transfer coding that was not requested" }
        if hasIgnoredTransferCoding { return "has a malformed Transfer-Encoding field" }
        guard endsByLength else { return nil }
        let announced = announcedLengths
        if announced.count > 1 {
            let lengths = announced.map { $0.drop { $0 == "0" } }
            if lengths.contains(where: { $0 != lengths[0] }) { return "announces several lengths" }
        }
        let isMalformed = hasIgnoredLength || announced.contains { $0.httpInteger == nil }
        return isMalformed ? "has a malformed Content-Length field" : nil
    }

    /// The values of all `Content-Length` fields.
    private var announcedLengths: [String] {
        let values = headers.values(for: "Content-Length")
        if values.count == 1, values[0].httpInteger != nil { return values }
        return values.flatMap { value in
            guard value.httpInteger == nil else { return [value] }
            return value.utf8.split(separator: UInt8(ascii: ",")).compactMap { item in
                let text = String(Substring(item)).trimmingOptionalWhitespace
                return text.isEmpty ? nil : text
            }
        }
    }

    /// A Boolean value indicating whether the response is known to have a part of the body only.
    ///
    /// Some servers send status 206 with the whole body to a request without a range, and with any range in it.
    /// - SeeAlso: RFC 9110, section 15.3.7.
    var isPart: Bool {
        guard status == 206, let text = headers["Content-Range"] else { return false }
        guard let range = ContentRange(text) else { return false }
        return range.first > 0 || range.total.map { range.last < $0 - 1 } ?? false
    }

    /// Returns the delay that the server requests with `Retry-After`.
    func retryAfter(now: Timestamp) -> Duration? {
        RetryAfter.delay(status: status, fields: headers.fields, now: now)
    }

    /// A Boolean value indicating whether the body is compressed, so that its announced length is not that of the
    /// result.
    var hasContentCoding: Bool { !contentCodings.isEmpty }

    /// The content codings of the body in the order of their application, in lower case, without `identity` and `none`,
    /// its unregistered synonym.
    ///
    /// - SeeAlso: RFC 9110, section 8.4.
    var contentCodings: [String] { codings(in: "Content-Encoding").filter { $0 != "identity" && $0 != "none" } }

    /// A Boolean value indicating whether the body has a transfer coding other than `chunked`.
    ///
    /// No request asks for one (RFC 9112, section 7.4), and libcurl would decode any number of them.
    private var hasUnrequestedTransferCoding: Bool {
        codings(in: "Transfer-Encoding").contains { $0 != "chunked" && $0 != "identity" }
    }

    private func codings(in name: String) -> [String] {
        guard let value = headers[name] else { return [] }
        return value.utf8.split(separator: UInt8(ascii: ",")).compactMap { item in
            let text = String(Substring(item)).trimmingOptionalWhitespace.lowercased()
            return text.isEmpty ? nil : text
        }
    }
}

extension ResponseHead {
    /// Creates a head from a status line such as `HTTP/1.1 404 Not Found`.
    init(statusLine line: UnsafeRawBufferPointer) {
        var start = line.index(of: UInt8(ascii: " "), from: 0) ?? line.count
        while start < line.count, line[start] == UInt8(ascii: " ") { start += 1 }
        let end = line.index(of: UInt8(ascii: " "), from: start) ?? line.count
        status = Int(line.text(from: start, to: end)) ?? 0
        reasonPhrase = line.text(from: end, to: line.count)
        headers = HTTPHeaders(capacity: 16)
    }

    /// Adds a field, whose name is at the beginning of a line.
    mutating func add(_ value: String, for line: UnsafeRawBufferPointer, nameLength: Int) {
        let wordLength = line[..<nameLength].firstIndex { $0 <= 0x20 } ?? nameLength
        if wordLength < nameLength { recordIgnored(line.text(from: 0, to: wordLength)) }
        headers.add(value, for: line.text(from: 0, to: nameLength))
    }

    /// Appends a continuation line to the last field.
    mutating func continueLastField(with text: String) {
        guard let field = headers.fields.last else { return beginsWithContinuation = true }
        recordIgnored(field.name)
        headers.appendToLastField(text)
    }

    /// Records that libcurl ignores a field, which may say where the body ends.
    private mutating func recordIgnored(_ name: String) {
        hasIgnoredLength = hasIgnoredLength || HTTPHeaders.isSameName(name, "Content-Length")
        hasIgnoredTransferCoding = hasIgnoredTransferCoding || HTTPHeaders.isSameName(name, "Transfer-Encoding")
    }
}

extension UnsafeRawBufferPointer {
    /// Returns the first index of `byte` at or after `start`.
    func index(of byte: UInt8, from start: Int) -> Int? {
        guard let baseAddress, start < count else { return nil }
        return memchr(baseAddress + start, Int32(byte), count - start).map { UnsafeRawPointer($0) - baseAddress }
    }

    /// Returns the bytes of a range as text, without leading and trailing white space and ends of lines.
    func text(from first: Int, to last: Int) -> String {
        var (first, last) = (first, last)
        while first < last, Self.isWhitespace(self[first]) { first += 1 }
        while first < last, Self.isWhitespace(self[last - 1]) { last -= 1 }
        let part = UnsafeRawBufferPointer(rebasing: self[first..<last])
        guard part.contains(where: { $0 >= 0x80 }) else { return String(decoding: part, as: UTF8.self) }
        return String(fieldBytes: part)
    }

    /// A Boolean value indicating whether the line is empty.
    var isEndOfHead: Bool { first.map { $0 == 0x0a || $0 == 0x0d } ?? true }

    /// A Boolean value indicating whether the line continues the field before it.
    ///
    /// - SeeAlso: RFC 9112, section 5.2.
    var isContinuation: Bool { first.map { $0 == 0x20 || $0 == 0x09 } ?? false }

    /// A Boolean value indicating whether the bytes begin with a status line, in any case, as for libcurl.
    var startsWithStatusLine: Bool { baseAddress.map { count >= 5 && strncasecmp($0, "HTTP/", 5) == 0 } ?? false }

    private static func isWhitespace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d
    }
}
