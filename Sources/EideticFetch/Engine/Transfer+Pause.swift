import CCurl

extension Transfer {
    /// Takes no bytes until `reason`, and every other, is lifted.
    func hold(_ reason: Pause) {
        guard !pauses.contains(reason) else { return }
        pauses.insert(reason)
        curl_easy_pause(easy, CURLPAUSE_RECV)
    }

    /// Takes bytes again, where no other reason holds it back; gives how the exchange ends where it does so by that.
    ///
    /// libcurl hands out here what it held back, and says here alone that a callback refused it.
    func lift(_ reason: Pause) -> CURLcode? {
        guard pauses.contains(reason) else { return nil }
        pauses.remove(reason)
        lastByte = clock.now
        guard pauses.isEmpty else { return nil }
        let code = curl_easy_pause(easy, CURLPAUSE_CONT)
        // Without a connection, before the first byte and behind the last one, there is nothing to hold back.
        return code == CURLE_OK || code == CURLE_BAD_FUNCTION_ARGUMENT ? nil : code
    }

    /// How much of the time since it began it took bytes, or waited for them.
    var timeInUse: Duration { clock.now - started - held - (pauses.isEmpty ? .zero : clock.now - heldSince) }
}
