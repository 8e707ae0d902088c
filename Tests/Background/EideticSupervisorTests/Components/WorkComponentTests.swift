import EideticLifecycle
import EideticSupervision
import EideticSupervisor
import Testing

@Suite("Work that the user has started, without a process")
struct WorkComponentTests {
    private let start = ApplicationView.start
    private let message = ContinuedWorkMessage(identifier: "w", title: "Export", subtitle: "")

    private var background: ApplicationView {
        var view = ApplicationView.running(.background, assertions: [.continued])
        view.hasBus = true
        return view
    }

    private func begun() -> ContinuedWorks {
        var works = ContinuedWorks(progressLimit: .seconds(30))
        _ = works.obey(.beginContinued(message, number: 1), in: .running(.active))
        return works
    }

    @Test("B10 work begins in the foreground only, and at most eight at once")
    func begin() {
        var works = ContinuedWorks(progressLimit: .seconds(30))
        let refused = works.obey(.beginContinued(message, number: 1), in: background)
        #expect(works.isEmpty && refused.messages == [.wakes(.task(.notInForeground, number: 1))])
        for number in 1...9 as ClosedRange<UInt64> {
            let work = ContinuedWorkMessage(identifier: "\(number)", title: "", subtitle: "")
            let effects = works.obey(.beginContinued(work, number: number), in: .running(.active))
            let fault: TaskRequestError? = number > 8 ? .tooManyPendingTaskRequests : nil
            #expect(effects.messages == [.wakes(.task(fault, number: number))])
            #expect(effects.events.count == (number > 8 ? 0 : 1))
        }
    }

    @Test("B10 work in the background that makes no progress for 30 s is stopped, and then nothing holds the assertion")
    func withoutProgress() {
        var works = begun()
        let first = works.handle(.settled, in: background.at(start))
        #expect(first.names == ["showProgress"] && works.deadline == start + .seconds(30))
        let progress = WakeCommand.reportContinued("w", completed: 1, total: 4)
        _ = works.obey(progress, in: background.at(start + .seconds(10)))
        _ = works.obey(progress, in: background.at(start + .seconds(20)))
        #expect(works.deadline == start + .seconds(40))
        let last = works.handle(.deadline, in: background.at(start + .seconds(40)))
        let reason = "it has made no progress for 30.0 s"
        #expect(last.messages == [.wakes(.stopContinued("w", reason: reason))])
        #expect(
            last.events == [.assertionChanged(.continued, isHeld: false, process: background.lifecycle.process)]
        )
        #expect(works.isEmpty && works.deadline == nil)
    }

    @Test("B10 the screen shows the newest progress once its server has answered, and nothing of work that has ended")
    func notification() throws {
        var works = begun()
        let shown = works.handle(.settled, in: background.at(start))
        let work = try #require(shown.shownWork)
        let progress = WakeCommand.reportContinued("w", completed: 1, total: 4)
        let early = works.obey(progress, in: background.at(start))
        #expect(early.isEmpty)
        let next = works.recordAnswer(7, to: work, named: "w", in: background.at(start))
        #expect(next.shownWork?.percent == 25 && works.shownNumbers == ["w": 7])
        let refused = works.recordAnswer(nil, to: work, named: "w", in: background.at(start))
        #expect(refused.isEmpty && works.deadline == start + .seconds(10))
        #expect(works.obey(.endContinued("w"), in: background).names == ["withdrawProgress", "handle"])
    }

    @Test("B10 a process of an earlier supervisor that names no work for 30 s loses the assertion")
    func unnamed() {
        var works = ContinuedWorks(progressLimit: .seconds(30))
        works.strays = ["old": 3]
        _ = works.handle(.settled, in: background.at(start))
        #expect(works.deadline == start + .seconds(30) && works.shownNumbers == ["old": 3])
        let effects = works.handle(.deadline, in: background.at(start + .seconds(30)))
        #expect(effects.names == ["log", "withdrawProgress", "handle"] && works.shownNumbers.isEmpty)
    }
}
