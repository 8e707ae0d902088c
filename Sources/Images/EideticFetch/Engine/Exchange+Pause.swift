import CCurl

extension Exchange {
    /// Pauses the exchange until this reason, and every other one, has been removed.
    func addPause(_ reason: PauseReason) {
        guard !pauseReasons.contains(reason) else { return }
        pauseReasons.insert(reason)
        curl_easy_pause(easy, CURLPAUSE_RECV)
    }

    /// Resumes the exchange, unless another reason to pause it is left.
    ///
    /// libcurl delivers the bytes that it has buffered here, and reports only here that a callback refused them.
    ///
    /// - Returns: The code with which the exchange ends as it resumes; otherwise, `nil`.
    func removePause(_ reason: PauseReason) -> CURLcode? {
        guard pauseReasons.contains(reason) else { return nil }
        pauseReasons.remove(reason)
        return resume()
    }

    /// Resumes the exchange if no reason to pause it is left.
    ///
    /// - Returns: The code with which the exchange ends as it resumes; otherwise, `nil`.
    func resume() -> CURLcode? {
        timer.recordActivity(at: clock.now)
        guard pauseReasons.isEmpty else { return nil }
        let code = curl_easy_pause(easy, CURLPAUSE_CONT)
        // An exchange without a connection, before its first byte or after its last one, cannot be paused.
        return code == CURLE_OK || code == CURLE_BAD_FUNCTION_ARGUMENT ? nil : code
    }

    /// A Boolean value indicating whether received bytes are still to be decoded.
    var hasPendingBytes: Bool { decoding.decoder?.hasPendingBytes ?? false }
}
