import EideticCore
import EideticLifecycle

// URLs whose senders are told what has become of them.
extension SupervisedApplication {
    /// A sender who waits for the answer, and the time at which it is told that there is none yet.
    struct WaitingSender {
        let answer: (_ failure: String?) -> Void
        let deadline: Duration
    }

    /// The time in which an application is expected to answer.
    private static let urlAnswerLimit: Duration = .seconds(8)

    /// Asks the application to open a URL, now or when it can.
    ///
    /// - Parameters:
    ///   - text: The URL.
    ///   - source: The identifier of the application that asks.
    ///   - token: The number by which the sender asks the next supervisor; 0 for none.
    ///   - answer: Called once: with `nil` if the application has opened the URL, otherwise with the reason.
    func open(
        _ text: String,
        from source: String?,
        token: UInt64 = 0,
        answer: @escaping (_ failure: String?) -> Void
    ) {
        guard urlSenders.count < Self.maximumWaitingRequests else {
            return answer(LifecycleEffect.Refusal.tooManyRequests.explanation)
        }
        lastSequence += 1
        let url = IncomingURL(text, id: lastSequence, source: source)
        if token != 0 { urlTokens[url.id] = token }
        urlSenders[url.id] = WaitingSender(answer: answer, deadline: Clock.now + Self.urlAnswerLimit)
        if !handleWhenConnected(.openURL(url)) { answerSender(of: url, outcome: .refused(.tooManyRequests)) }
    }

    /// Answers the sender who has lost the earlier supervisor, now or later; returns `false` if the URL is unknown.
    func follow(_ token: UInt64, answer: @escaping (_ failure: String?) -> Void) -> Bool {
        if let known = answeredTokens.first(where: { $0.token == token }) {
            answer(known.failure)
            return true
        }
        guard let id = urlTokens.first(where: { $0.value == token })?.key else { return false }
        urlSenders[id] = WaitingSender(answer: answer, deadline: Clock.now + Self.urlAnswerLimit)
        return true
    }

    /// Returns a URL of an earlier supervisor with a number of this one.
    func renumbered(_ record: ApplicationRecord.URLRecord) -> IncomingURL {
        lastSequence += 1
        if record.token != 0 { urlTokens[lastSequence] = record.token }
        return record.url(numbered: lastSequence)
    }

    func record(of url: IncomingURL) -> ApplicationRecord.URLRecord {
        ApplicationRecord.URLRecord(url, token: urlTokens[url.id] ?? 0)
    }

    /// Tells the sender of a URL what has become of it.
    func answerSender(of url: IncomingURL, outcome: IncomingURL.Outcome) {
        let failure: String? =
            switch outcome {
            case .handled: nil
            case .notHandled: "the application does not open this URL"
            case .refused(let refusal): startObstacle ?? refusal.explanation
            }
        if let token = urlTokens.removeValue(forKey: url.id) {
            answeredTokens = answeredTokens.suffix(Self.maximumWaitingRequests - 1) + [(token, failure)]
        }
        urlSenders.removeValue(forKey: url.id)?.answer(failure)
    }

    /// The reason for which the program could not be started; `nil` while a process runs.
    private var startObstacle: String? { process == nil ? lastObstacle : nil }

    /// The time of the next call of ``answerOverdueSenders(at:)``.
    var urlAnswerTime: Duration? { urlSenders.values.map(\.deadline).min() }

    /// Answers those who have waited for long; the URLs are opened nevertheless.
    func answerOverdueSenders(at now: Duration) {
        for (id, sender) in urlSenders where sender.deadline <= now {
            urlSenders[id] = nil
            sender.answer("the application has not answered yet; the URL waits for it")
        }
    }
}
