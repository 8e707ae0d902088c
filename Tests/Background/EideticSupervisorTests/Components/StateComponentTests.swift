import EideticLifecycle
import EideticSupervision
import EideticSupervisor
import Testing

@Suite("Suspension, adoption and transfers of an application, without a process")
struct StateComponentTests {
    private let start = ApplicationView.start

    @Test("B02 a freeze that takes longer is looked at again, at pauses that grow by an eighth, up to 0.1 s")
    func freeze() {
        var suspension = Suspension(terminalInterval: .seconds(10))
        let view = ApplicationView.running(.suspended)
        let pending = suspension.record(.pending, isNew: true, in: view.at(start))
        #expect(pending.isEmpty && suspension.deadline == start + .milliseconds(1))
        _ = suspension.record(.pending, isNew: false, in: view.at(start))
        #expect(suspension.deadline == start + .microseconds(1_125))
        for _ in 0..<100 { _ = suspension.record(.pending, isNew: false, in: view.at(start)) }
        #expect(suspension.deadline == start + .milliseconds(100))
        let verified = suspension.record(.verified, isNew: false, in: view.at(start))
        let identity = view.lifecycle.process
        #expect(verified.events == [.processFrozen(identity, openTasks: 0, blocksOthers: false)])
        #expect(suspension.deadline == nil)
        let open = suspension.record(.openTasks(2), isNew: true, in: view.at(start))
        #expect(open.events == [.processFrozen(identity, openTasks: 2, blocksOthers: false)])
    }

    @Test("B01 a program that does not connect is treated as one that knows no supervisor, unless an entry declares it")
    func declared() {
        var lifecycle = Lifecycle()
        _ = lifecycle.handle(.launch(.user), at: start)
        var process = ApplicationView.Process(lifecycle.process)
        process.isWelcomed = false
        var view = ApplicationView(lifecycle, process: process)
        var plain = PlainProgram(limit: .seconds(2))
        _ = plain.handle(.settled, in: view.at(start))
        #expect(plain.deadline == start + .seconds(2))
        view.isDeclared = true
        _ = plain.handle(.settled, in: view.at(start))
        #expect(plain.deadline == nil)
    }

    @Test("B19 a suspended program that ignores the request to end is killed once, when its time is over")
    func ignoredEnd() {
        var plain = PlainProgram(limit: .seconds(2))
        let view = ApplicationView.running(.suspended)
        plain.adopt()
        let isRequested = plain.beginEnd(at: start, limit: .seconds(25))
        #expect(isRequested && plain.isEnding && plain.deadline == start + .seconds(25))
        #expect(plain.handle(.deadline, in: view.at(start + .seconds(25))).names == ["kill"])
        // The kill is no second request.
        let isRepeated = plain.beginEnd(at: start + .seconds(25), limit: .seconds(25))
        #expect(!isRepeated && plain.deadline == nil)
    }

    @Test("B02 a suspended job continues when it is in the foreground of its terminal")
    func terminal() {
        var (suspension, view) = (Suspension(terminalInterval: .seconds(10)), ApplicationView.running(.suspended))
        suspension.watchTerminal(in: view.at(start))
        #expect(suspension.deadline == nil)
        view.process?.isForegroundJob = { false }
        suspension.watchTerminal(in: view.at(start))
        let first = suspension.handle(.deadline, in: view.at(start + .seconds(10)))
        #expect(first.isEmpty && suspension.deadline == start + .seconds(20))
        view.process?.isForegroundJob = { true }
        let last = suspension.handle(.deadline, in: view.at(start + .seconds(20)))
        #expect(last.events == [.enterForeground] && suspension.deadline == nil)
    }

    @Test("B03 one report of the last task's end is asked for at a time, in the background, with open tasks")
    func idleReport() {
        var (suspension, view) = (
            Suspension(terminalInterval: .seconds(10)), ApplicationView.running(.background, openTasks: 1)
        )
        var effects = suspension.handle(.settled, in: view.at(start))
        #expect(effects.names == ["requestIdleReport"])
        view.process?.isIdleReportRequested = true
        for view in [view, .running(.active, openTasks: 1), .running(.suspended)] {
            effects = suspension.handle(.settled, in: view.at(start))
            #expect(effects.isEmpty)
        }
    }

    @Test("B05 the names of open tasks are asked for in the middle of a callback's time")
    func names() {
        var (names, view) = (TaskNames(), ApplicationView.running(.background, openTasks: 1))
        names.expectCallback(until: start + .seconds(5), at: start)
        #expect(names.deadline == start + .milliseconds(2_500))
        var effects = names.handle(.deadline, in: view.at(start + .seconds(3)))
        #expect(effects.messages == [.taskNames(request: 1)] && names.deadline == nil)
        view.process?.openTasks = { 0 }
        effects = names.request(in: view)
        #expect(effects.isEmpty)
    }

    @Test("B16 requests wait for the process of an earlier supervisor for its time, at most 64, and are then refused")
    func adoption() {
        var adoption = Adoption(limit: .seconds(10), gracePeriod: .seconds(25))
        var admissions = [adoption.admit(.activate)?.names]
        adoption.expect(ApplicationRecord.ProcessRecord(), at: start)
        #expect(adoption.deadline == start + .seconds(10))
        admissions += (0..<65).map { _ in adoption.admit(.activate)?.names }
        #expect(admissions.first == ["handle"] && admissions.last == .some(nil) && admissions[64] == ["saveRecord"])
        #expect(adoption.requests.count == 64)
        let effects = adoption.handle(.deadline, in: .running(.active).at(start + .seconds(10)))
        let rejections = [String](repeating: "reject", count: 64)
        #expect(effects.names == ["log"] + rejections + ["saveRecord"])
        #expect(adoption.deadline == nil && adoption.requests.isEmpty)
        let late = adoption.admit(.activate)
        #expect(late?.names == ["reject"])
        adoption.keep([.activate])
        adoption.drop()
        #expect(adoption.requests.isEmpty && adoption.record != nil)
    }

    @Test("B16 requests that waited are handled one by one; those to a process that has ended start one or are refused")
    func waitingRequests() {
        var adoption = Adoption(limit: .seconds(10), gracePeriod: .seconds(25))
        let wake = LifecycleEvent.wake(WakeReason(.fetch, id: 2), allowance: .zero)
        adoption.restore([.activate, .launch(.user), wake])
        var names: [[String]] = []
        while let effects = adoption.handleNext(in: .notRunning) {
            names.append(effects.names)
            #expect(adoption.requests.count == 3 - names.count)
        }
        #expect(names == [["reject"], ["handle"], ["rewake"]])
        adoption.restore([.activate])
        let handled = adoption.handleNext(in: .running(.active))
        #expect(handled?.events == [.activate])
    }

    @Test("B16 a process that was found stays frozen, goes on if it cannot connect, or is expected to connect")
    func takeover() {
        typealias State = AdoptedProcess.State
        let view = ApplicationView.running(.active).at(start)
        func begin(
            _ state: State?,
            isFrozen: Bool,
            change: (inout ApplicationRecord.ProcessRecord) -> Void = { _ in }
        ) -> (Adoption, [ApplicationEffect]) {
            var adoption = Adoption(limit: .seconds(10), gracePeriod: .seconds(25))
            var record = ApplicationRecord.ProcessRecord()
            record.state = state
            change(&record)
            adoption.expect(record, at: start)
            let effects = adoption.begin(isFrozen: isFrozen, in: view)
            return (adoption, effects)
        }
        #expect(begin(.background, isFrozen: true).1.names == ["freezeAgain"])
        #expect(begin(.suspended, isFrozen: false).1.names == ["thaw", "log"])
        // A stopped process in the foreground was stopped by somebody else.
        #expect(begin(.active, isFrozen: true).1.names == ["thaw", "log"])
        #expect(begin(.suspended, isFrozen: true) { $0.killReport = "killed" }.1.names == ["log", "killAgain"])
        let (plain, effects) = begin(.suspended, isFrozen: false) { $0.isPlain = true }
        #expect(effects.names == ["cancelSuspension", "log", "recordOnce"] && plain.record == nil)
    }

    @Test("B16 a process that is frozen again is taken over at once, and expected to connect if that fails")
    func frozenTakeover() {
        let view = ApplicationView.running(.suspended).at(start + .seconds(3))
        var record = ApplicationRecord.ProcessRecord()
        record.state = .suspended
        record.intention.isVisible = false
        record.intention.isFocused = false
        for outcome in [FreezeAttempt.Outcome.pending, .openTasks(1), .verified] {
            var adoption = Adoption(limit: .seconds(10), gracePeriod: .seconds(25))
            adoption.expect(record, at: start)
            let effects = adoption.begin(outcome, in: view)
            guard outcome == .verified else {
                #expect(effects.names == ["cancelSuspension"] && adoption.deadline == start + .seconds(13))
                continue
            }
            #expect(effects.names == ["log", "recordOnce"] && adoption.record == nil && adoption.deadline == nil)
            guard case .recordOnce(let once)? = effects.last else { continue }
            #expect(once.names.prefix(2) == ["introduce", "watchSuspended"])
            #expect(once.events == [.enterBackground, .deactivate])
        }
    }

    @Test("B16 a process that connects again is taken over as it is, and receives the requests that were on their way")
    func reconnection() {
        var adoption = Adoption(limit: .seconds(10), gracePeriod: .seconds(25))
        var record = ApplicationRecord.ProcessRecord()
        record.state = .active
        record.intention.isFocused = false
        record.intention.isTerminating = true
        record.intention.graceEnd = start + .seconds(7)
        record.intention.urls = [ApplicationRecord.URLRecord(IncomingURL("a:b", id: 1, source: nil))]
        record.intention.wakes = [OpenWake(WakeReason(.fetch, id: 2), allowance: .zero)]
        adoption.expect(record, at: start)
        let view = ApplicationView.running(.active).at(start)
        #expect(adoption.state(in: view) == .terminating)
        let running = Hello.RunningState(.suspended, token: [], generation: 1)
        var effects = adoption.connect(running: running, presentation: nil, in: view)
        #expect(effects.names.prefix(3) == ["log", "deliverNotices", "introduce"])
        #expect(effects.names.contains("expectTermination"))
        #expect(effects.names.suffix(3) == ["reopen", "rewake", "handleWaitingRequests"])
        #expect(effects.events == [.terminate(grace: .seconds(7)), .show, .deactivate])
        #expect(adoption.record == nil && adoption.deadline == nil && adoption.state(in: view) == .active)
        // Not launched yet, and not to be shown.
        record.intention = ApplicationRecord.Intention()
        record.intention.isVisible = false
        record.isBackgroundLaunch = true
        adoption.expect(record, at: start)
        effects = adoption.connect(running: nil, presentation: nil, in: view)
        #expect(effects.names == ["introduce", "handleWaitingRequests"])
    }

    @Test("B16 a presentation that has changed since is newer than the one that was on its way")
    func presentation() {
        let adoption = Adoption(limit: .seconds(10), gracePeriod: .seconds(25))
        var intention = ApplicationRecord.Intention()
        intention.presentation = PresentationMessage(isVisible: true, isFocused: true)
        let view = ApplicationView.running(.active)
        for isVisible in [true, false] {
            let next = PresentationMessage(isVisible: isVisible, isFocused: isVisible)
            let effects = adoption.resumption(of: intention, presentation: next, in: view)
            #expect(effects.events == (isVisible ? [.show, .activate] : [.enterBackground, .deactivate]))
        }
    }

    @Test("B14 the transfer process is told when an application runs or ends, and not of anything else")
    func transfers() {
        var hold = TransferHold()
        let names = [ApplicationView.notRunning, .running(.active), .running(.active), .notRunning].map { view in
            hold.handle(.settled, in: view.at(start)).names
        }
        #expect(names == [[], ["updateTransferHold"], [], ["updateTransferHold"]])
    }
}
