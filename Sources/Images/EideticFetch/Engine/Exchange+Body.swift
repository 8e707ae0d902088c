import EideticCore
import EideticHTTP

extension Exchange {
    func receive(body chunk: UnsafeRawBufferPointer) -> ReceiveResult {
        if failure != nil { return .refused }
        guard pauseReasons.isEmpty else { return .paused }
        // The channel comes before the rate limit, so that a chunk that is delivered again consumes tokens once.
        if decoding.decoder == nil, body.isRecognised, request.channel?.hasRoom(for: chunk.count) == false {
            pauseReasons.insert(.reader)
            return .paused
        }
        if let rateLimiter, !rateLimiter.consume(chunk.count) {
            pauseReasons.insert(.rate)
            return .paused
        }
        timer.recordActivity(byteCount: chunk.count, at: clock.now)
        guard body.isKept else {
            body.ignoredCount += chunk.count
            return body.ignoredCount <= Self.ignoredBodyLimit ? .accepted : .refused
        }
        let isAccepted = decoding.decoder.map { decode(chunk, with: $0) } ?? deliver(chunk)
        return isAccepted ? .accepted : .refused
    }

    /// Delivers a decoded chunk; returns `false` if the exchange failed.
    func deliver(_ chunk: UnsafeRawBufferPointer) -> Bool {
        guard chunk.count <= request.fetchRequest.byteLimit.bytes - body.receivedCount else {
            return refuseBody(bodyTooLong("the body is longer than the limit"))
        }
        guard append(chunk) else { return false }
        if let onBody = request.onBody, head.map(request.accepts) ?? false { onBody(chunk, body.receivedCount) }
        body.receivedCount += chunk.count
        if !countInMemory(chunk.count) { pauseReasons.insert(.memory) }
        request.onProgress(LoadProgress(received: body.receivedCount, expected: body.expectedLength))
        return true
    }

    /// Counts bytes that were collected in memory; returns `false` if the exchange must wait for others.
    private func countInMemory(_ count: Int) -> Bool {
        guard collectsBody else { return true }
        if let share { return share.add(count) }
        let share = bodyBudget.makeShare(for: request.context)
        self.share = share
        // A partial body that is resumed counts as well.
        return share.add(body.receivedCount)
    }

    /// Passes a chunk to the channel or the collected body; returns `false` if the exchange failed.
    private func append(_ chunk: UnsafeRawBufferPointer) -> Bool {
        if let channel = request.channel, body.isRecognised {
            channel.append(chunk)
            return true
        }
        return collect(chunk)
    }

    /// Appends a chunk to the collected body, or recognises the beginning of the body.
    private func collect(_ chunk: UnsafeRawBufferPointer) -> Bool {
        if collectsBody || !body.bytes.isEmpty {
            body.bytes.append(contentsOf: chunk)
            return body.isRecognised || recogniseBody(isComplete: false)
        }
        // The first chunk is usually long enough to be recognised, and is passed on without a copy.
        guard recognise(chunk, isComplete: false) else { return false }
        if !body.isRecognised { body.bytes.append(contentsOf: chunk) }
        return true
    }

    var collectsBody: Bool { request.channel == nil }

    private func recogniseBody(isComplete: Bool) -> Bool {
        let bytes = body.consume()
        let isValid = bytes.withUnsafeBytes { recognise($0, isComplete: isComplete) }
        if collectsBody || !body.isRecognised { body.bytes = bytes }
        return isValid
    }

    /// Checks the beginning of the body, and passes it to the channel once it is acceptable.
    ///
    /// - Returns: `false` if the body is not an image and the exchange failed; otherwise, `true`.
    private func recognise(_ start: UnsafeRawBufferPointer, isComplete: Bool) -> Bool {
        // What an error page has to say is for a hook, or for the downloader whose network this is.
        if request.requiresImage, head.map(request.accepts) ?? true {
            switch ImageFormat.detect(in: start, isComplete: isComplete) {
            case .format: break
            case .needsMoreBytes: return true
            case .unknown:
                fail(
                    .notAnImage(
                        url: request.url,
                        headers: head?.headers,
                        isEmpty: start.isEmpty,
                        status: head?.status
                    )
                )
                return false
            }
        }
        body.isRecognised = true
        if let channel = request.channel, let head {
            channel.open(with: head)
            if !start.isEmpty { channel.append(start) }
        }
        return true
    }

    /// Checks a complete body.
    func finishBody() {
        guard body.isKept, finishDecoding(), body.isKept else { return }
        if let resumedLength = body.resumedLength, body.receivedCount != resumedLength {
            // The partial body does not match the remainder that this server sent.
            hasUnrequestedRange = body.receivedCount > resumedLength
            let counts = "the parts have \(body.receivedCount) bytes, the body has \(resumedLength)"
            return fail(EideticError(.lengthMismatch, message: "\(request.url): \(counts)"))
        }
        if !body.isRecognised { _ = recogniseBody(isComplete: true) }
    }

    /// Ends the exchange because of its body; of a response that is not acceptable anyway only the body is dropped.
    ///
    /// - Returns: `false` if the exchange failed; otherwise, `true`.
    func refuseBody(_ error: EideticError) -> Bool {
        guard let head, !request.accepts(head) else {
            fail(error)
            return false
        }
        body.isKept = false
        body.bytes = []
        decoding.decoder = nil
        decodingList.remove(self)
        return true
    }

    func bodyTooLong(_ fault: String) -> EideticError {
        let limit = request.fetchRequest.byteLimit.bytes
        return EideticError(.limitExceeded, message: "\(request.url): \(fault); the limit is \(limit) bytes")
    }
}
