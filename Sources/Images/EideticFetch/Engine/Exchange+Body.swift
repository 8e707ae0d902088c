import EideticCore
import EideticHTTP

extension Exchange {
    /// Receives a chunk of the body.
    func receive(body chunk: UnsafeRawBufferPointer) -> ReceiveResult {
        if failure != nil { return .refused }
        guard pauseReasons.isEmpty else { return .paused }
        // The channel comes before the rate limit, so that a chunk that is delivered again consumes tokens once.
        if decoder == nil, isRecognised, request.channel?.hasRoom(for: chunk.count) == false {
            pauseReasons.insert(.reader)
            return .paused
        }
        if let rateLimiter, !rateLimiter.consume(chunk.count) {
            pauseReasons.insert(.rate)
            return .paused
        }
        recordActivity(byteCount: chunk.count)
        guard keepsBody else {
            ignoredBytes += chunk.count
            return ignoredBytes <= Self.ignoredBodyLimit ? .accepted : .refused
        }
        let isAccepted = decoder.map { decode(chunk, with: $0) } ?? deliver(chunk)
        return isAccepted ? .accepted : .refused
    }

    /// Delivers a decoded chunk; returns `false` if the exchange failed.
    func deliver(_ chunk: UnsafeRawBufferPointer) -> Bool {
        guard chunk.count <= request.fetchRequest.byteLimit.bytes - receivedBytes else {
            return refuseBody(bodyTooLong("the body is longer than the limit"))
        }
        guard append(chunk) else { return false }
        if let onBody = request.onBody, head.map(request.accepts) ?? false { onBody(chunk, receivedBytes) }
        receivedBytes += chunk.count
        if !countInMemory(chunk.count) { pauseReasons.insert(.memory) }
        request.onProgress(LoadProgress(received: receivedBytes, expected: expectedLength))
        return true
    }

    /// Counts bytes that were collected in memory; returns `false` if the exchange must wait for others.
    private func countInMemory(_ count: Int) -> Bool {
        guard collectsBody else { return true }
        if let share { return share.add(count) }
        let share = bodyBudget.makeShare(for: request.context)
        self.share = share
        // A partial body that is resumed counts as well.
        return share.add(receivedBytes)
    }

    /// Passes a chunk to the channel or the collected body; returns `false` if the exchange failed.
    private func append(_ chunk: UnsafeRawBufferPointer) -> Bool {
        if let channel = request.channel, isRecognised {
            channel.append(chunk)
            return true
        }
        return collect(chunk)
    }

    /// Appends a chunk to the collected body, or recognises the beginning of the body.
    private func collect(_ chunk: UnsafeRawBufferPointer) -> Bool {
        if collectsBody || !body.isEmpty {
            body.append(contentsOf: chunk)
            return isRecognised || recogniseBody(isComplete: false)
        }
        // The first chunk is usually long enough to be recognised, and is passed on without a copy.
        guard recognise(chunk, isComplete: false) else { return false }
        if !isRecognised { body.append(contentsOf: chunk) }
        return true
    }

    /// A Boolean value indicating whether the body is collected in memory.
    var collectsBody: Bool { request.channel == nil }

    private func recogniseBody(isComplete: Bool) -> Bool {
        let bytes = consumeBody()
        let isValid = bytes.withUnsafeBytes { recognise($0, isComplete: isComplete) }
        if collectsBody || !isRecognised { body = bytes }
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
        isRecognised = true
        if let channel = request.channel, let head {
            channel.open(with: head)
            if !start.isEmpty { channel.append(start) }
        }
        return true
    }

    /// Checks a complete body.
    func finishBody() {
        guard keepsBody, finishDecoding(), keepsBody else { return }
        if let resumedLength, receivedBytes != resumedLength {
            // The partial body does not match the remainder that this server sent.
            hasUnrequestedRange = receivedBytes > resumedLength
            let counts = "the parts have \(receivedBytes) bytes, the body has \(resumedLength)"
            return fail(EideticError(.lengthMismatch, message: "\(request.url): \(counts)"))
        }
        if !isRecognised { _ = recogniseBody(isComplete: true) }
    }

    /// Ends the exchange because of its body; of a response that is not acceptable anyway only the body is dropped.
    ///
    /// - Returns: `false` if the exchange failed; otherwise, `true`.
    func refuseBody(_ error: EideticError) -> Bool {
        guard let head, !request.accepts(head) else {
            fail(error)
            return false
        }
        keepsBody = false
        body = []
        decoder = nil
        decodingList.remove(self)
        return true
    }

    /// Returns the body without a copy, and removes it from the exchange.
    func consumeBody() -> [UInt8] {
        defer { body = [] }
        return body
    }

    func bodyTooLong(_ fault: String) -> EideticError {
        let limit = request.fetchRequest.byteLimit.bytes
        return EideticError(.limitExceeded, message: "\(request.url): \(fault); the limit is \(limit) bytes")
    }
}
