import CCurl

extension Transfer {
    /// Takes no bytes until `reason`, and every other, is lifted.
    func hold(_ reason: Pause) {
        guard !pauses.contains(reason) else { return }
        pauses.insert(reason)
        wasHeld = true
        curl_easy_pause(easy, CURLPAUSE_RECV)
    }

    /// Takes bytes again, where no other reason holds it back.
    func lift(_ reason: Pause) {
        guard pauses.contains(reason) else { return }
        pauses.remove(reason)
        lastByte = clock.now
        if pauses.isEmpty { curl_easy_pause(easy, CURLPAUSE_CONT) }
    }
}
