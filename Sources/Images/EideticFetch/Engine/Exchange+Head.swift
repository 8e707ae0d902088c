import EideticCore
import EideticHTTP

extension Exchange {
    /// Receives lines of the head; returns `false` to end the exchange.
    func receive(head lines: UnsafeRawBufferPointer) -> Bool {
        lines.allLines { line in
            timer.recordActivity(byteCount: line.count, at: clock.now)
            let isEnd = headLines.append(line)
            // An address was refused, and libcurl has connected to another one.
            if failure != nil { return false }
            guard headLines.byteCount <= HeadLineParser.limit else {
                return refuseHead("is longer than \(HeadLineParser.limit) bytes")
            }
            return !isEnd || finishHead()
        }
    }

    /// Ends the exchange because of its head; returns `false`.
    private func refuseHead(_ fault: String) -> Bool {
        fail(EideticError(.badResponse, message: "\(request.url): the response head \(fault)"))
        return false
    }

    private func finishHead() -> Bool {
        var head = headLines.head
        if let fault = head.framingFault { return refuseHead(fault) }
        guard head.status >= 200 else { return true }
        guard startDecoding(head) else { return false }
        head.requestTime = requestTime
        head.responseTime = time.now
        headLines.head = head
        headLines.isComplete = true
        guard body.isKept else { return true }
        guard startBody(for: head) else { return false }
        guard !head.hasContentCoding, let length = head.contentLength else { return true }
        guard length <= request.fetchRequest.byteLimit.bytes - body.receivedCount else {
            return refuseBody(bodyTooLong("a length of \(length) bytes was announced"))
        }
        body.expectedLength = body.receivedCount + length
        if collectsBody { body.bytes.reserveCapacity(body.bytes.count + min(length, 16 << 20)) }
        request.onProgress(LoadProgress(received: body.receivedCount, expected: body.expectedLength))
        return true
    }

    /// Starts the body, with the partial body of an earlier attempt if the server resumes it.
    ///
    /// - Returns: `false` if the response has another range than requested; otherwise, `true`.
    private func startBody(for head: ResponseHead) -> Bool {
        body.start()
        guard head.status == 206 else { return true }
        if let partialBody = request.partialBody {
            if let length = partialBody.resumedLength(from: head, url: request.url) {
                body.start(with: partialBody.bytes, resumedLength: length)
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
