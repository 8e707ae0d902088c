import CCurl

extension Exchange {
    /// Takes no bytes until `reason`, and every other, is lifted.
    func addPause(_ reason: PauseReason) {
        guard !pauseReasons.contains(reason) else { return }
        pauseReasons.insert(reason)
        curl_easy_pause(easy, CURLPAUSE_RECV)
    }

    /// Takes bytes again, where no other reason holds it back; gives how the exchange ends where it does so by that.
    ///
    /// libcurl hands out here what it held back, and says here alone that a callback refused it.
    func removePause(_ reason: PauseReason) -> CURLcode? {
        guard pauseReasons.contains(reason) else { return nil }
        pauseReasons.remove(reason)
        lastActivity = clock.now
        guard pauseReasons.isEmpty else { return nil }
        let code = curl_easy_pause(easy, CURLPAUSE_CONT)
        // Without a connection, before the first byte and behind the last one, there is nothing to hold back.
        return code == CURLE_OK || code == CURLE_BAD_FUNCTION_ARGUMENT ? nil : code
    }

    /// How much of the time since it began it took bytes, or waited for them.
    var activeTime: Duration {
        clock.now - startTime - pausedTime - (pauseReasons.isEmpty ? .zero : clock.now - pausedSince)
    }
}
