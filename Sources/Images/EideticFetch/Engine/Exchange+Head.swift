import EideticCore
import EideticHTTP

extension Exchange {
    /// Receives lines of the head.
    ///
    /// libcurl delivers the lines that arrived during a pause together, from a single buffer.
    ///
    /// - Returns: `false` to end the exchange; otherwise, `true`.
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
        recordActivity(byteCount: line.count)
        headBytes += line.count
        // An address was refused, and libcurl has connected to another one.
        if failure != nil { return false }
        guard headBytes <= Self.headLimit else {
            return refuseHead("is longer than \(Self.headLimit) bytes")
        }
        if line.startsWithStatusLine {
            incomingHead = ResponseHead(statusLine: line)
            head = nil
        } else if line.isBlank {
            return finishHead()
        } else if head == nil, let colon = line.index(of: UInt8(ascii: ":"), from: 0) {
            let name = line.text(from: 0, to: colon)
            incomingHead.headers.add(line.text(from: colon + 1, to: line.count), for: name)
        }
        return true
    }

    /// Ends the exchange because of its head; returns `false`.
    private func refuseHead(_ fault: String) -> Bool {
        fail(EideticError(.badResponse, message: "\(request.url): the response head \(fault)"))
        return false
    }

    private func finishHead() -> Bool {
        // A second blank line ends the trailer section of a chunked body.
        guard head == nil else { return true }
        guard startDecoding(incomingHead) else { return false }
        guard incomingHead.status >= 200 else { return true }
        guard !incomingHead.hasConflictingLengths else { return refuseHead("announces several lengths") }
        incomingHead.requestTime = requestTime
        incomingHead.responseTime = time.now
        head = incomingHead
        guard keepsBody else { return true }
        guard startBody(for: incomingHead) else { return false }
        guard !incomingHead.hasContentCoding, let length = incomingHead.contentLength else { return true }
        guard length <= request.fetchRequest.byteLimit.bytes - receivedBytes else {
            return refuseBody(bodyTooLong("a length of \(length) bytes was announced"))
        }
        expectedLength = receivedBytes + length
        if collectsBody { body.reserveCapacity(body.count + min(length, 16 << 20)) }
        request.onProgress(LoadProgress(received: receivedBytes, expected: expectedLength))
        return true
    }

    /// Starts the body, with the partial body of an earlier attempt if the server resumes it.
    ///
    /// - Returns: `false` if the response has another range than requested; otherwise, `true`.
    private func startBody(for head: ResponseHead) -> Bool {
        body = []
        receivedBytes = 0
        expectedLength = nil
        resumedLength = nil
        guard head.status == 206 else { return true }
        if let partialBody = request.partialBody {
            if let length = partialBody.resumedLength(from: head, url: request.url) {
                resumedLength = length
                receivedBytes = partialBody.bytes.count
                body = partialBody.bytes
                return true
            }
        } else if request.headers["Range"] != nil || !head.isPart {
            return true
        }
        hasUnrequestedRange = true
        let range = head.headers["Content-Range"]?.printable ?? "no Content-Range header"
        fail(
            EideticError(
                .badResponse,
                message: "\(request.url): the server sent a range that was not requested (\(range))"
            )
        )
        return false
    }
}
