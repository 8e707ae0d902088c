import EideticLifecycle

// URLs whose senders are told what has become of them.
extension SupervisedApplication {
    /// Asks the application to open a URL, now or when it can.
    ///
    /// - Parameters:
    ///   - text: The URL.
    ///   - source: The identifier of the application that asks.
    ///   - token: The number by which the sender asks the next supervisor; 0 for none.
    ///   - answer: Called once: with `nil` if the application has opened the URL, otherwise with the reason.
    func open(_ text: String, from source: String?, token: UInt64 = 0, answer: @escaping URLRequests.Answer) {
        guard components.urls.hasRoom else { return answer(LifecycleEffect.Refusal.tooManyRequests.explanation) }
        lastSequence += 1
        let url = IncomingURL(text, id: lastSequence, source: source)
        components.urls.expect(url.id, token: token, at: Clock.now, answer: answer)
        request(.openURL(url))
    }

    /// Answers the sender who has lost the earlier supervisor, now or later; returns `false` if the URL is unknown.
    func follow(_ token: UInt64, answer: @escaping URLRequests.Answer) -> Bool {
        guard let effects = components.urls.follow(token, at: Clock.now, answer: answer) else { return false }
        perform(effects)
        return true
    }

    /// Returns a URL of an earlier supervisor with a number of this one.
    func renumbered(_ record: ApplicationRecord.URLRecord) -> IncomingURL {
        lastSequence += 1
        return components.urls.renumber(record, as: lastSequence)
    }

    /// Tells the sender of a URL what has become of it.
    func answerSender(of url: IncomingURL, outcome: IncomingURL.Outcome) {
        let obstacle = process == nil ? lastObstacle : nil
        perform(components.urls.complete(url, outcome: outcome, startObstacle: obstacle))
    }
}
