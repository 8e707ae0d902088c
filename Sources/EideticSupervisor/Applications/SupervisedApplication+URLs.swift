import EideticCore
import LifecycleCore

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
    ///   - answer: Called once: with `nil` if the application has opened the URL, otherwise with the reason.
    func open(_ text: String, from source: String?, answer: @escaping (_ failure: String?) -> Void) {
        guard urlSenders.count < Self.maximumWaitingRequests else {
            return answer(LifecycleEffect.Refusal.tooManyRequests.explanation)
        }
        lastSequence += 1
        let url = IncomingURL(text, id: lastSequence, source: source)
        urlSenders[url.id] = WaitingSender(answer: answer, deadline: Clock.now + Self.urlAnswerLimit)
        if !handleWhenConnected(.openURL(url)) { answerSender(of: url, outcome: .refused(.tooManyRequests)) }
    }

    /// Tells the sender of a URL what has become of it.
    func answerSender(of url: IncomingURL, outcome: IncomingURL.Outcome) {
        let sender = urlSenders.removeValue(forKey: url.id)
        switch outcome {
        case .handled: sender?.answer(nil)
        case .notHandled: sender?.answer("the application does not open this URL")
        case .refused(let refusal): sender?.answer(startObstacle ?? refusal.explanation)
        }
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
