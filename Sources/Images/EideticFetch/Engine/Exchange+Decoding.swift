import EideticCore

/// Content codings, decoded in turns.
extension Exchange {
    /// Checks the codings of a head, and prepares to decode the body of a successful response.
    ///
    /// - Returns: `false` if the exchange failed; otherwise, `true`.
    func startDecoding(_ head: ResponseHead) -> Bool {
        decoding.decoder = nil
        decoding.isUncertain = false
        body.isKept = request.keepsBody(of: head)
        let codings = head.contentCodings
        guard codings.count <= BodyDecoder.maximumCodings else {
            let fault = "the response has \(codings.count) content codings; \(BodyDecoder.maximumCodings) are accepted"
            return refuse(head, fault: fault)
        }
        guard body.isKept, !codings.isEmpty else { return true }
        let known = BodyDecoder.Coding.codings(named: codings)
        if let name = known.unsupported {
            guard request.accepts(head) else {
                body.isKept = false
                return true
            }
            return refuse(head, fault: "the content coding \(name) is not supported")
        }
        guard !known.codings.isEmpty else { return true }
        decoding.decoder = BodyDecoder(known.codings)
        decoding.isUncertain = known.isUncertain
        guard decoding.decoder == nil else { return true }
        fail(EideticError(.outOfMemory, message: "\(request.url): no memory to decode the body"))
        return false
    }

    private func refuse(_ head: ResponseHead, fault: String) -> Bool {
        fail(EideticError(.badResponse, message: "\(request.url): \(fault)", httpStatus: head.status))
        return false
    }

    /// Receives encoded bytes, and decodes as many of them as the turn allows; returns `false` if the exchange failed.
    func decode(_ chunk: UnsafeRawBufferPointer, with decoder: BodyDecoder) -> Bool {
        if decoding.isUncertain {
            decoding.isUncertain = false
            guard decoder.coding.isSigned(in: chunk) else {
                decoding.decoder = nil
                return deliver(chunk)
            }
        }
        guard chunk.count <= request.fetchRequest.byteLimit.bytes - decoder.receivedBytes else {
            return refuseBody(bodyTooLong("the body is longer than the limit"))
        }
        decoder.append(chunk)
        decoding.startTurn(at: clock.now)
        return decodePendingBytes(with: decoder)
    }

    /// Decodes further bytes in a new turn; returns `false` if the exchange failed.
    func continueDecoding() -> Bool {
        guard let decoder = decoding.decoder else { return true }
        decoding.continueInNewTurn(at: clock.now)
        // Other reasons may be added on the way.
        pauseReasons.remove(.decoding)
        return decodePendingBytes(with: decoder)
    }

    private func decodePendingBytes(with decoder: BodyDecoder) -> Bool {
        while decoder.hasPendingBytes {
            if body.isRecognised, request.channel?.hasRoom(for: BodyDecoder.outputSize) == false {
                pauseReasons.insert(.reader)
            }
            guard pauseReasons.isEmpty, !decoding.hasEndedTurn else {
                pauseReasons.insert(.decoding)
                decodingList.insert(self)
                return true
            }
            guard let step = decoder.decodeStep() else {
                return refuseBody(decodingError("the body is not coded as \(decoder.coding.rawValue)"))
            }
            decoding.count(step.work)
            guard decoder.largestReceivedBytes <= request.fetchRequest.byteLimit.bytes else {
                return refuseBody(bodyTooLong("the body is longer than the limit between two of its codings"))
            }
            if !step.bytes.isEmpty, !deliver(step.bytes) { return false }
            if !body.isKept { return true }
        }
        decodingList.remove(self)
        return true
    }

    /// Checks that a complete body has all its encoded data; returns `false` if the exchange failed.
    func finishDecoding() -> Bool {
        guard let decoder = decoding.decoder, decoder.receivedBytes > 0, !decoder.hasAllData else { return true }
        return refuseBody(decodingError("the body ends before its end as \(decoder.coding.rawValue)"))
    }

    private func decodingError(_ fault: String) -> EideticError {
        EideticError(.badResponse, message: "\(request.url): \(fault)", httpStatus: head?.status)
    }
}
