package import EideticLifecycle

/// The URLs of an application whose senders are told what has become of them.
package struct URLRequests: ApplicationComponent {
    package typealias Answer = (_ failure: String?) -> Void

    /// A sender who waits for the answer, and the time at which it is told that there is none yet.
    private struct Sender {
        let answer: Answer
        let deadline: Duration
    }

    /// The greatest number of senders who wait, and of answers that are known.
    package static let limit = 64
    /// The time in which an application is expected to answer.
    private static let answerLimit: Duration = .seconds(8)

    /// The senders, by the numbers of the URLs.
    private var senders: [UInt64: Sender] = [:]
    /// The tokens of URLs without an answer, by the numbers of the URLs, and the latest answers.
    private var tokens: [UInt64: UInt64] = [:]
    private var answers: [(token: UInt64, failure: String?)] = []
    /// The tokens of URLs that get a number when the process of the earlier supervisor has connected or ended, and the
    /// senders who ask for them before.
    private var announcedTokens: Set<UInt64> = []
    private var earlySenders: [UInt64: Sender] = [:]

    private var lastNumber: UInt64

    /// Creates the component, whose URLs have the numbers after one, unlike those of an earlier supervisor.
    package init(after number: UInt64 = 0) { lastNumber = number }

    package var deadline: Duration? { (senders.values.map(\.deadline) + earlySenders.values.map(\.deadline)).min() }

    package mutating func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    /// Asks the application to open a URL, now or when it can.
    ///
    /// - Parameters:
    ///   - text: The URL.
    ///   - source: The identifier of the application that asks.
    ///   - token: The number by which the sender asks the next supervisor; 0 for none.
    ///   - now: The time.
    ///   - answer: Called once: with `nil` if the application has opened the URL, otherwise with the reason.
    /// - Returns: The request, or the refusal of one too many.
    package mutating func open(
        _ text: String,
        from source: String?,
        token: UInt64 = 0,
        at now: Duration,
        answer: @escaping Answer
    ) -> [ApplicationEffect] {
        guard senders.count < Self.limit else {
            return [.answer(answer, failure: LifecycleEffect.Refusal.tooManyRequests.explanation)]
        }
        let url = IncomingURL(text, id: nextNumber(), source: source)
        if token != 0 { tokens[url.id] = token }
        senders[url.id] = Sender(answer: answer, deadline: now + Self.answerLimit)
        return [.request(.openURL(url))]
    }

    /// Answers the sender who has lost the earlier supervisor, now or later; returns `nil` if the URL is unknown.
    package mutating func follow(_ token: UInt64, at now: Duration, answer: @escaping Answer) -> [ApplicationEffect]? {
        if let known = answers.first(where: { $0.token == token }) { return [.answer(answer, failure: known.failure)] }
        let sender = Sender(answer: answer, deadline: now + Self.answerLimit)
        if let number = tokens.first(where: { $0.value == token })?.key {
            senders[number] = sender
        } else if announcedTokens.contains(token) {
            earlySenders[token] = sender
        } else {
            return nil
        }
        return []
    }

    /// Expects URLs that a process of the earlier supervisor may not have received.
    package mutating func announce(_ records: [ApplicationRecord.URLRecord]) {
        announcedTokens = Set(records.map(\.token)).subtracting([0])
    }

    /// Expects them no more, as the user ends the application.
    package mutating func dropAnnounced() -> [ApplicationEffect] {
        defer {
            announcedTokens = []
            earlySenders = [:]
        }
        return earlySenders.values.map { .answer($0.answer, failure: LifecycleEffect.Refusal.forceQuit.explanation) }
    }

    /// Returns a URL of an earlier supervisor with a number of this one.
    package mutating func renumber(_ record: ApplicationRecord.URLRecord) -> IncomingURL {
        let number = nextNumber()
        if record.token != 0 { tokens[number] = record.token }
        announcedTokens.remove(record.token)
        senders[number] = earlySenders.removeValue(forKey: record.token)
        return record.url(numbered: number)
    }

    /// Forgets the numbers that an earlier ``renumber(_:)`` has given.
    package mutating func forgetTokens() { tokens = [:] }

    package func record(of url: IncomingURL) -> ApplicationRecord.URLRecord {
        ApplicationRecord.URLRecord(url, token: tokens[url.id] ?? 0)
    }

    /// Tells the sender of a URL what has become of it.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - outcome: What has become of it.
    ///   - startObstacle: The reason for which the program could not be started; `nil` while a process runs.
    /// - Returns: The answer.
    package mutating func complete(
        _ url: IncomingURL,
        outcome: IncomingURL.Outcome,
        startObstacle: String?
    ) -> [ApplicationEffect] {
        let failure: String? =
            switch outcome {
            case .handled: nil
            case .notHandled: "the application does not open this URL"
            case .refused(let refusal): startObstacle ?? refusal.explanation
            }
        if let token = tokens.removeValue(forKey: url.id) {
            answers = answers.suffix(Self.limit - 1) + [(token, failure)]
        }
        return senders.removeValue(forKey: url.id).map { [.answer($0.answer, failure: failure)] } ?? []
    }

    /// Answers those who have waited for long; the URLs are opened nevertheless.
    package mutating func handle(_ change: ApplicationChange, in view: ApplicationView) -> [ApplicationEffect] {
        guard change == .deadline else { return [] }
        let isOverdue = { (sender: Sender) in sender.deadline <= view.now }
        let overdue = senders.values.filter(isOverdue) + earlySenders.values.filter(isOverdue)
        senders = senders.filter { !isOverdue($1) }
        earlySenders = earlySenders.filter { !isOverdue($1) }
        return overdue.map {
            .answer($0.answer, failure: "the application has not answered yet; the URL waits for it")
        }
    }
}
