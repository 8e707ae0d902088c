import Testing

@testable import EideticLifecycle

@Suite("The parts of a lifecycle, alone")
struct LifecyclePartTests {
    private var rules = LifecycleRules()

    private func fetch(_ id: UInt64, allowance: Duration = .seconds(60)) -> OpenWake {
        OpenWake(WakeReason(.fetch, id: id), allowance: allowance)
    }

    @Test("B03 the background time is kept over a short stay in the foreground, and renewed by a longer one")
    func time() throws {
        var stay = BackgroundStay(time: .seconds(100))
        stay.start(under: rules, at: .zero)
        let budget = try #require(rules.backgroundBudget)
        #expect(stay.end == budget)
        stay.leave(at: .seconds(10))
        #expect(stay.end == nil)
        let short = Duration.seconds(10) + rules.budgetRefillTime - .seconds(1)
        stay.start(under: rules, at: short)
        #expect(stay.end == short + budget - .seconds(10))
        stay.leave(at: short)
        stay.start(under: rules, at: short + rules.budgetRefillTime)
        #expect(stay.end == short + rules.budgetRefillTime + budget)
    }

    @Test("B10 an assertion holds the time, but not the limits of a request to end and of a sleep")
    func held() {
        var stay = BackgroundStay(time: .seconds(100))
        stay.assertions = [.audio]
        stay.start(under: rules, at: .zero)
        #expect(stay.end == nil)
        stay.graceDeadline = .seconds(9)
        #expect(stay.end == .seconds(9))
        stay.sleep = SleepProgress(within: .seconds(8), reserve: .seconds(5), at: .zero)
        #expect(stay.end == .seconds(4))
    }

    @Test("B04 an expiration calls the handlers once, and kills for tasks that are open at its limit")
    func expiration() {
        var stay = BackgroundStay(time: .seconds(100))
        stay.openTasks = 1
        stay.start(under: rules, at: .zero)
        let first = stay.expire(under: rules, at: .seconds(1))
        let limit = Duration.seconds(1) + rules.expirationLimit
        #expect(first == [.setTaskPhase(.expiring, deadline: .seconds(1)), .expireTasks(deadline: limit)])
        let second = stay.expire(under: rules, at: .seconds(2))
        #expect(second.isEmpty && stay.killDeadline == limit && stay.killReason == .backgroundTask)
        #expect(stay.isExpirationUnderWay)
        stay.restartKillLimit(.seconds(5), at: limit)
        #expect(stay.killDeadline == limit + .seconds(5))
        stay.forgive()
        #expect(!stay.isExpired && stay.killDeadline == nil)
    }

    @Test("B19 tasks that are open when the machine sleeps are not killed for it")
    func sleep() {
        var stay = BackgroundStay(time: .seconds(100))
        stay.openTasks = 1
        stay.start(under: rules, at: .zero)
        stay.sleep = SleepProgress(within: .seconds(8), reserve: .seconds(5), at: .zero)
        let effects = stay.expire(under: rules, at: .seconds(4))
        #expect(effects.last == .expireTasks(deadline: .seconds(8)) && stay.killDeadline == nil)
    }

    @Test("B14 a wake has the least of its limit and its allowance, and one that is overdue is charged once")
    func wakes() {
        var stay = BackgroundStay(time: .seconds(100))
        stay.wakes.append(fetch(1, allowance: .seconds(3)))
        stay.wakes.append(fetch(2))
        let first = stay.wakes.deliverNext(under: rules, at: .zero)
        #expect(first?.0.id == 1 && first?.limit == .seconds(3) && stay.wakes.earliestDeadline == .seconds(3))
        #expect(stay.wakes.deliveredKinds == [.fetch] && stay.wakes.overdue(at: .seconds(2)) == nil)
        let overdue = stay.expireOverdueWake(under: rules, at: .seconds(3))
        #expect(overdue.first == .penalizeWake(WakeReason(.fetch, id: 1)) && stay.killReason == .wake)
        #expect(stay.expireOverdueWake(under: rules, at: .seconds(4)).isEmpty)
        let completed = stay.complete(1)
        #expect(completed.map(\.id) == [1] && stay.killReason == nil && stay.wakes.count == 1)
        #expect(stay.wakes.takeDelivered().isEmpty && stay.wakes.takeAll().map(\.reason.id) == [2])
    }

    @Test("B02 an idle application is frozen after the interval or at once, and not before the time of a retry")
    func suspension() {
        var progress = SuspensionProgress()
        var begins = progress.beginFreeze(atOnce: false, under: rules, at: .zero)
        #expect(!begins && progress.idleDeadline(under: rules) == rules.idleInterval)
        begins = progress.beginFreeze(atOnce: false, under: rules, at: rules.idleInterval)
        #expect(begins && progress.freezeDeadline == rules.idleInterval + rules.freezeLimit)
        progress.cancelFreeze()
        #expect(progress.freezeDeadline == nil && progress.idleDeadline(under: rules) == nil)
        progress.retry(at: .seconds(900))
        begins = progress.beginFreeze(atOnce: true, under: rules, at: .seconds(899))
        #expect(!begins && progress.retryTime == .seconds(900))
        begins = progress.beginFreeze(atOnce: true, under: rules, at: .seconds(900))
        #expect(begins)
        let warnings = [Duration.zero, rules.lockViolationWindow, rules.lockViolationWindow + .seconds(1)].map { time in
            progress.warnAboutLocks(under: rules, at: time)
        }
        #expect(warnings == [true, false, true])
    }

    @Test(
        "B09 the description of a URL has no password, in any form that is loaded",
        arguments: [
            ("https://bob:SECRET@h/a?b#c", "https://h/a"), ("https:bob:SECRET@h/a", "https:h/a"),
            (#"http:\/\bob:SECRET@h/a@b"#, #"http:\/\h/a@b"#), ("http://bob:SECRET@\u{301}h", "http://\u{301}h"),
            ("http://h/\u{301}a@b", "http://h/\u{301}a@b"), ("eidetic:a", "eidetic:a"), ("", ""),
        ]
    )
    func descriptions(text: String, expected: String) {
        #expect(IncomingURL(text, id: 1).description == expected)
    }

    @Test("B09 a URL is answered once, and those that have no answer are reported when the process ends")
    func urls() {
        var queue = URLQueue([IncomingURL("a:1", id: 1), IncomingURL("a:2", id: 2)])
        let answers = [queue.answer(1), queue.answer(1)]
        #expect(answers == [true, false] && queue.unanswered.map(\.id) == [2])
        let isAnswered = queue.finish(IncomingURL("a:1", id: 1))
        #expect(isAnswered && queue.first?.id == 2)
        let second = queue.finish(IncomingURL("a:2", id: 2))
        #expect(!second && queue.takeUnanswered().isEmpty)
    }

    @Test("B01 a launch by the user comes before a wake, and one that shows nothing last")
    func waitingLaunch() {
        var waiting = WaitingLaunch()
        #expect(waiting.isEmpty && waiting.callback == nil && waiting.isVisible == nil)
        waiting.addBackgroundLaunch(for: .user)
        #expect(waiting.callback == .launchInBackground(.user) && waiting.isVisible == false)
        waiting.wakes = [fetch(1)]
        #expect(waiting.callback == .launchInBackground(.wake(.fetch)))
        waiting.add(.user)
        waiting.add(.notificationResponse("n"))
        waiting.add(.user)
        #expect(waiting.callback == .launch(.notificationResponse("n")) && waiting.isVisible == true)
        #expect(waiting.takeWakes { $0 == .fetch }.map(\.id) == [1] && waiting.wakes.isEmpty)
    }

    @Test("B14 an application that has crashed too often is not launched, and not woken for that kind of wake")
    func history() {
        var history = LaunchHistory()
        history.launchCrashCount = rules.launchCrashLimit
        for _ in 0..<rules.wakeCrashLimit { history.recordEnd(during: [.fetch]) }
        #expect(!history.isCrashingAtLaunch(under: rules) && !history.isCrashing(in: .fetch, under: rules))
        history.launchCrashCount += 1
        history.recordEnd(during: [.fetch, .push])
        #expect(history.isCrashingAtLaunch(under: rules) && history.isCrashing(in: .fetch, under: rules))
        #expect(!history.isCrashing(in: .push, under: rules))
    }
}
