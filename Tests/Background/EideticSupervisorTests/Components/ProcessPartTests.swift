import EideticCore
import EideticLifecycle
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import Testing

@Suite("Messages, suspensions, transitions and files of a process, without one")
struct ProcessPartTests {
    private let start = ApplicationView.start

    @Test("B02 messages wait for the greeting, and a callback is sent again until it is acknowledged, once")
    func conversation() {
        var conversation = Conversation(after: 6)
        let early = [conversation.send(.exit), conversation.deliver(.didBecomeActive, deadline: start)]
        #expect(early == [[], []])
        let callback = SupervisorMessage.lifecycle(.didBecomeActive, sequence: 7, deadline: start)
        for _ in 0..<300 { _ = conversation.send(.exit) }
        let first = conversation.open()
        #expect(first.count == Conversation.waitingLimit + 1 && first.last == callback)
        conversation.isIdleReportRequested = true
        conversation.close()
        #expect(!conversation.isOpen && !conversation.isIdleReportRequested)
        let second = conversation.open()
        #expect(second == [callback])
        let unknown = conversation.acknowledge(8)
        #expect(unknown == nil && conversation.callbackDeadline == start)
        let known = conversation.acknowledge(7)
        #expect(known == .didBecomeActive && conversation.pendingCallback == nil)
        let next = [conversation.send(.exit), conversation.deliver(.willResignActive, deadline: start)]
        #expect(next == [[.exit], [.lifecycle(.willResignActive, sequence: 8, deadline: start)]])
    }

    @Test("B01 suspensions are counted, with those under an earlier supervisor, and one under way goes on")
    func suspensions() {
        var times = SuspensionTimes(since: .seconds(10), count: 3, total: .seconds(5))
        times.resume(at: .seconds(12))
        #expect(times.start == .seconds(10) && times.total(at: .seconds(13)) == .seconds(8))
        let first = times.end(at: .seconds(14))
        #expect(first == .seconds(10) && times.total == .seconds(9) && times.count == 3)
        let none = times.end(at: .seconds(15))
        #expect(none == nil && times.total == .seconds(9))
        times.begin(at: .seconds(20))
        times.cancel()
        #expect(times.count == 4 && times.total(at: .seconds(30)) == .seconds(9))
    }

    // MARK: Transitions

    /// A process that opens tasks when the page is closed, and may be held.
    private final class Gate: TransitionGate {
        let admitsTasks = true
        var lateTasks = 0
        var isHeld = false
        var statedTasks: Int?
        private(set) var steps: [String] = []

        func taskCountChange(since lifecycle: Lifecycle) -> LifecycleEvent? {
            guard let statedTasks, statedTasks != lifecycle.stay.openTasks else { return nil }
            return .openTaskCountChanged(statedTasks, process: lifecycle.process)
        }

        func closePage(at now: Duration) -> Int {
            steps.append("close")
            return lateTasks
        }

        func reopenPage() { steps.append("reopen") }

        func isSparedAtLimit() -> Bool { isHeld }
    }

    @Test("B03 a task that begins in the last moment before a termination is not cut off")
    func lateTask() {
        for count in [0, 2] {
            let gate = Gate()
            gate.lateTasks = count
            var transitions = Transitions(ApplicationView.running(.background).lifecycle)
            _ = transitions.add(.terminate(grace: .zero))
            let effects = transitions.next(at: start, with: gate)?.effects ?? []
            let hasEnded = effects.contains { if case .setTaskPhase(.terminating, _) = $0 { true } else { false } }
            #expect(hasEnded == (count == 0) && transitions.lifecycle.stay.openTasks == count)
            #expect(gate.steps == (count == 0 ? ["close"] : ["close", "reopen"]))
        }
    }

    @Test("B03 an event that an effect causes comes after it; a passed deadline and a new task count come before it")
    func order() {
        var transitions = Transitions(ApplicationView.running(.active).lifecycle)
        let gate = Gate()
        let isFirst = transitions.add(.deactivate)
        let first = transitions.next(at: start, with: gate)
        // As an effect does.
        let isSecond = transitions.add(.enterBackground)
        #expect(isFirst && first?.event == .deactivate && !isSecond && transitions.current == .deactivate)
        gate.statedTasks = 2
        let late = (transitions.lifecycle.nextDeadline ?? start) + .seconds(1)
        let overdue = transitions.next(at: late, with: gate)
        #expect(overdue?.event == nil && overdue?.effects.contains(.killProcess(.watchdog(.willResignActive))) == true)
        let counted = transitions.next(at: late, with: gate)
        #expect(counted != nil && counted?.event == nil && transitions.current == nil)
        let caused = transitions.next(at: late, with: gate)
        let none = transitions.next(at: late, with: gate)
        let isNext = transitions.add(.activate)
        #expect(caused?.event == .enterBackground && none == nil && isNext)
    }

    @Test("B02 a message of the application is an event, or a claim, or the answer to a callback under way")
    func messages() {
        var conversation = Conversation(after: 0)
        let view = ApplicationView.running(.active, openTasks: 3)
        let identity = view.lifecycle.process
        _ = conversation.open()
        _ = conversation.deliver(.didBecomeActive, deadline: start)
        let answers = [0, 1, 1].map { conversation.receive(.acknowledged(sequence: $0), in: view).names }
        #expect(answers == [[], ["acknowledge"], []])
        conversation.isIdleReportRequested = true
        let idle = conversation.receive(.idle, in: view)
        #expect(idle.events == [.openTaskCountChanged(3, process: identity)] && !conversation.isIdleReportRequested)
        let hidden = PresentationMessage(isVisible: false, isFocused: false)
        let presented = conversation.receive(.presentation(hidden), in: view)
        #expect(presented.events == [.enterBackground, .deactivate] && conversation.presentation == hidden)
        let claimed = conversation.receive(.assertion(.audio, isHeld: true), in: view)
        #expect(claimed.names == ["claim"])
        // The earlier supervisor has obeyed the request.
        conversation.repeatsTermination = true
        let leaving = (0..<2).map { _ in conversation.receive(.leaving, in: view).names }
        #expect(leaving == [["log", "continueInBackground"], ["log", "continueInBackground", "terminate"]])
        let nobody = conversation.receive(.idle, in: .notRunning)
        #expect(nobody.isEmpty)
    }

    @Test("B05 a process that a debugger holds is not killed at a limit, and has the whole time again")
    func held() {
        for isHeld in [false, true] {
            let gate = Gate()
            gate.isHeld = isHeld
            var lifecycle = ApplicationView.running(.active).lifecycle
            _ = lifecycle.handle(.deactivate, at: start)
            let deadline = lifecycle.nextDeadline ?? start
            var transitions = Transitions(lifecycle)
            _ = transitions.add(.deadlineReached)
            let effects = transitions.next(at: deadline, with: gate)?.effects ?? []
            let isKilled = effects.contains { if case .killProcess = $0 { true } else { false } }
            #expect(isKilled != isHeld)
            if isHeld { #expect(transitions.lifecycle.nextDeadline == deadline + (deadline - start)) }
        }
    }

    @Test("B01 a short thaw ends in the suspension, or after 0.2 s of attempts and with a task in the background")
    func briefThaw() {
        var (thaws, view) = (ShortThaws(), ApplicationView.running(.suspended).at(start))
        let identity = view.lifecycle.process
        var effects = thaws.request(from: .bus, in: view)
        #expect(effects.names == ["thawBriefly"] && thaws.deadline == start + ShortThaws.length)
        effects = thaws.end(.pending, in: view)
        #expect(effects.isEmpty && thaws.deadline == start + .milliseconds(2))
        effects = thaws.end(.verified, in: view)
        #expect(effects.names == ["watchCallers"] && thaws.deadline == start + ShortThaws.pause)
        effects = thaws.end(.openTasks(2), in: view)
        #expect(effects.events == [.resumeInBackground, .openTaskCountChanged(2, process: identity)])
        view = view.at(start + .seconds(5))
        _ = thaws.request(from: .display, in: view)
        _ = thaws.end(.pending, in: view)
        effects = thaws.end(.pending, in: view.at(start + .milliseconds(5_200)))
        #expect(effects.events == [.resumeInBackground] && thaws.deadline == nil)
    }

    @Test(
        "B01 displays and buses are recognised by their sockets, and by the names that the application has for them",
        arguments: [
            ("/tmp/.X11-unix/X0", nil, nil, .display), ("tcp:6010", nil, nil, .display), ("tcp:7000", nil, nil, nil),
            ("/run/user/1000/wayland-1", nil, nil, .display), ("/run/user/1000/gamescope-0", nil, nil, nil),
            ("/run/user/1000/gamescope-0", nil, "gamescope-0", .display),
            ("/srv/display", nil, "/srv/display", .display),
            ("/run/user/1000/bus", nil, nil, .bus), ("/tmp/dbus-abc", nil, nil, .bus),
            ("/run/user/1000/at-spi/bus_0", nil, nil, .bus), ("/srv/own", "unix:path=/srv/own,guid=1", nil, .bus),
            ("/srv/own", nil, "", nil), ("/run/user/1000/pulse/native", nil, "wayland-1", nil),
        ] as [(String, String?, String?, ShortThaws.Source?)]
    )
    func recognisedServers(peer: String, bus: String?, display: String?, source: ShortThaws.Source?) {
        #expect(ShortThaws.Source(peer: peer, sessionBus: bus, waylandDisplay: display) == source)
    }

    @Test("B05 callers on a bus get three further short thaws, in which a slow machine answers, and no fourth one")
    func repeatedThaw() {
        let suspended = ApplicationView.running(.suspended)
        var thaws = ShortThaws()
        func end(at time: Duration) {
            let end = thaws.handle(.deadline, in: suspended.at(time + ShortThaws.length))
            #expect(end.names == ["endBriefThaw"])
            _ = thaws.end(.verified, in: suspended.at(time + ShortThaws.length))
        }
        #expect(thaws.request(from: .bus, in: suspended.at(start)).names == ["thawBriefly"])
        end(at: start)
        for number in 1...3 {
            let next = start + ShortThaws.pause * number
            #expect(thaws.deadline == next)
            #expect(thaws.handle(.deadline, in: suspended.at(next - .milliseconds(1))).isEmpty)
            #expect(thaws.handle(.deadline, in: suspended.at(next)).names == ["thawBriefly"])
            end(at: next)
        }
        #expect(thaws.deadline == nil)
    }

    @Test("B05 a call may be read in a short thaw for a display, so that further ones follow if there is a bus")
    func callDuringThaw() {
        var suspended = ApplicationView.running(.suspended).at(start)
        suspended.unreadCounts = { [.display: 9, .bus: 0] }
        var thaws = ShortThaws(), count = 0
        var effects = thaws.request(from: .display, in: suspended)
        while effects.names == ["thawBriefly"], count < 100 {
            count += 1
            // Idle at the end, as the call is read while everything is stopped.
            _ = thaws.end(.verified, in: suspended.at(suspended.now + ShortThaws.length))
            guard let deadline = thaws.deadline else { break }
            suspended = suspended.at(deadline)
            effects = thaws.handle(.deadline, in: suspended)
        }
        #expect(count == 4)
        #expect(thaws.lines(unread: [:]).first?.hasSuffix(": display 4") == true)
    }

    @Test("B05 events of a display neither prolong the work on a call, nor cause more than three more thaws in 10 s")
    func repeatedEvents() {
        /// The seconds of all short thaws, at whose ends the application is at work.
        func seconds(of first: ShortThaws.Source, events: [Int], isContinued: Bool = false) -> [Int] {
            var thaws = ShortThaws()
            return (0..<200).filter { second in
                var view = ApplicationView.running(.suspended).at(start + .seconds(second))
                view.unreadCounts = { [.display: 0, .bus: 0] }
                if isContinued { _ = thaws.handle(.settled, in: view) }
                let isRequested = second == 0 || events.contains(second)
                let source = second == 0 ? first : .display
                let effects = isRequested ? thaws.request(from: source, in: view) : thaws.handle(.deadline, in: view)
                guard effects.names == ["thawBriefly"] else { return false }
                _ = thaws.end(isContinued ? .openTasks(1) : .pending, isAtWork: true, in: view)
                if !isContinued { _ = thaws.end(.verified, in: view) }
                return true
            }
        }
        #expect(seconds(of: .display, events: [1]) == Array(0...3))
        #expect(seconds(of: .bus, events: [10, 20]) == Array(0...25))
        let everyFour = seconds(of: .display, events: Array(stride(from: 4, through: 24, by: 4)))
        #expect(everyFour == [0, 1, 2, 3, 4, 8, 11, 12, 13, 16, 20, 21, 22, 23, 24, 31, 32, 33])
        // Each continues it in the background.
        let continued = seconds(of: .display, events: [2, 6, 7], isContinued: true)
        #expect(continued == [0, 2, 4, 6, 7, 11, 13, 15])
    }

    @Test("B05 an application that is at work on an answer when a short thaw ends gets further ones, at most 25")
    func thawsAtWork() {
        let suspended = ApplicationView.running(.suspended)
        func count(atWork workCount: Int, from source: ShortThaws.Source) -> Int {
            var thaws = ShortThaws(), time = start, count = 1
            _ = thaws.request(from: source, in: suspended.at(time))
            while true {
                _ = thaws.handle(.deadline, in: suspended.at(time + ShortThaws.length))
                // Busy in the first attempt only, as what is stopped does not run.
                _ = thaws.end(.pending, isAtWork: count <= workCount, in: suspended.at(time + ShortThaws.length))
                _ = thaws.end(.verified, in: suspended.at(time + ShortThaws.length))
                guard let deadline = thaws.deadline else { return count }
                time = deadline
                count += thaws.handle(.deadline, in: suspended.at(time)).names == ["thawBriefly"] ? 1 : 100
            }
        }
        #expect((0...4).map { count(atWork: $0, from: .bus) } == [4, 4, 5, 6, 7])
        #expect(count(atWork: 1_000, from: .bus) == 26)
        #expect(count(atWork: 1_000, from: .display) == 1)
    }

    @Test("B05 an application that continued in the background for others gets a short thaw after its next suspension")
    func thawAfterContinuation() {
        let suspended = ApplicationView.running(.suspended).at(start)
        for state in [AdoptedProcess.State.background, .active] {
            var thaws = ShortThaws()
            _ = thaws.request(from: .bus, in: suspended)
            _ = thaws.end(.pending, in: suspended)
            let effects = thaws.end(.pending, in: suspended.at(start + .milliseconds(200)))
            #expect(effects.events == [.resumeInBackground])
            _ = thaws.handle(.settled, in: ApplicationView.running(state).at(start))
            #expect(thaws.deadline == nil)
            if state == .background {
                // Its freeze is not confirmed at once.
                var suspending = ApplicationView.running(state)
                _ = suspending.lifecycle.handle(.deadlineReached, at: suspending.lifecycle.nextDeadline ?? start)
                #expect(suspending.lifecycle.state == .suspending)
                _ = thaws.handle(.settled, in: suspending)
            }
            let later = suspended.at(start + .seconds(9))
            _ = thaws.handle(.settled, in: later)
            #expect(thaws.deadline == (state == .background ? start + .seconds(9) + ShortThaws.pause : nil))
            guard let deadline = thaws.deadline else { continue }
            #expect(thaws.handle(.deadline, in: suspended.at(deadline)).names == ["thawBriefly"])
            _ = thaws.end(.verified, in: suspended.at(deadline + ShortThaws.length))
            #expect(thaws.deadline == deadline + ShortThaws.pause)
        }
    }

    @Test("B05 an application that opens a task in each short thaw does not get them without end")
    func endlessTasks() {
        let suspended = ApplicationView.running(.suspended)
        var thaws = ShortThaws(), time = start, count = 1
        _ = thaws.request(from: .bus, in: suspended.at(time))
        while count < 100 {
            #expect(thaws.end(.openTasks(1), in: suspended.at(time)).events.first == .resumeInBackground)
            _ = thaws.handle(.settled, in: ApplicationView.running(.background, openTasks: 1).at(time))
            _ = thaws.handle(.settled, in: suspended.at(time))
            guard let deadline = thaws.deadline else { break }
            time = deadline
            #expect(thaws.handle(.deadline, in: suspended.at(time)).names == ["thawBriefly"])
            count += 1
        }
        #expect(count == 26)
        let line = "continued for 15 ms at a time, at most once a second, for what others had sent: bus 26"
        #expect(thaws.lines(unread: [:]) == [line])
    }

    @Test("B05 an application continues before the queue of its display is full, and not for unread bytes of a bus")
    func crowdedDisplay() {
        let suspended = ApplicationView.running(.suspended)
        func view(after time: Duration, unread: [ShortThaws.Source: Int]) -> ApplicationView {
            var view = suspended.at(start + time)
            view.unreadCounts = { unread }
            view.unreadSources = { Set(unread.keys) }
            return view
        }
        var thaws = ShortThaws()
        _ = thaws.request(from: .bus, in: suspended.at(start))
        _ = thaws.end(.verified, in: suspended.at(start + .milliseconds(15)))
        // Until a second after the last one, the display is looked at.
        _ = thaws.request(from: .bus, in: suspended.at(start + .milliseconds(20)))
        #expect(thaws.deadline == start + ShortThaws.pause)
        _ = thaws.request(from: .display, in: suspended.at(start + .milliseconds(20)))
        #expect(thaws.deadline == start + .milliseconds(120))
        var effects = thaws.handle(
            .deadline,
            in: view(after: .milliseconds(120), unread: [.display: 4_095, .bus: 9_999])
        )
        #expect(effects.isEmpty && thaws.deadline == start + .milliseconds(220))
        effects = thaws.handle(.deadline, in: view(after: .milliseconds(220), unread: [.display: 4_096]))
        #expect(effects.events == [.resumeInBackground] && effects.lines.count == 1)
        // Or else a short one follows.
        effects = thaws.handle(.deadline, in: view(after: .seconds(1), unread: [.display: 1]))
        #expect(effects.names == ["thawBriefly"])
    }

    @Test(
        "B05 a call that is read while a display continues the application may need a short thaw afterwards",
        arguments: [(ShortThaws.Source.bus, false), (.display, true), (.display, false)]
    )
    func callBesideDisplay(source: ShortThaws.Source, isOnBus: Bool) {
        var suspended = ApplicationView.running(.suspended)
        suspended.unreadCounts = { isOnBus ? [.display: 4_096, .bus: 0] : [.display: 4_096] }
        var thaws = ShortThaws()
        _ = thaws.request(from: .display, in: suspended.at(start))
        _ = thaws.end(.verified, in: suspended.at(start + .milliseconds(15)))
        for source in [source, .display] {
            _ = thaws.request(from: source, in: suspended.at(start + .milliseconds(20)))
        }
        let effects = thaws.handle(.deadline, in: suspended.at(start + .milliseconds(120)))
        #expect(effects.events == [.resumeInBackground])
        _ = thaws.handle(.settled, in: ApplicationView.running(.background).at(start))
        _ = thaws.handle(.settled, in: suspended.at(start + .seconds(9)))
        #expect(thaws.deadline == (source == .bus || isOnBus ? start + .seconds(10) : nil))
    }

    // MARK: Records

    @Test("B16 the record and the schedule are written when they have changed, and read by the next supervisor")
    func files() throws {
        let place = try TemporaryDirectory()
        let (system, state) = (FileSystem(), place.path(of: "state"))
        let directory = try RuntimeDirectory(path: place.path(of: "run"))
        var files = ApplicationFiles(of: "a", in: directory, stateDirectory: state)
        var record = ApplicationRecord()
        record.processNumber = 7
        let isSaved = files.save(record)
        #expect(isSaved)
        let path = place.path(of: "run/applications/a/record")
        try system.unlink(path)
        // Nothing has changed.
        _ = files.save(record)
        #expect(throws: SystemError.self) { try system.status(of: path) }
        record.processNumber = 8
        _ = files.save(record)
        #expect(try system.status(of: path).size > 0)
        let now = ScheduleTime(steady: 1_700_000_000, local: 1_700_000_000)
        var wakes = WakeRecord(schedule: WakeSchedule(at: now))
        files.save(wakes)
        let empty = try files.readWakes()
        #expect(empty == nil)
        wakes.wantsLocation = true
        files.save(wakes)
        var next = ApplicationFiles(of: "a", in: directory, stateDirectory: state)
        let read = try next.readWakes()
        #expect(read == wakes)
        try next.saveExitReport("killed")
        try next.deleteArchive()
        let report = try system.contents(of: "\(files.archiveDirectory)/exit-report", limit: 100)
        #expect(report == Array("killed\n".utf8))
    }

    @Test("B10 an application is limited to the modes of its desktop entry, and an undeclared one is refused with it")
    func declarations() throws {
        let text = "[Desktop Entry]\nType=Application\nName=A\nExec=/usr/bin/a\nX-Eidetic-BackgroundModes=fetch;\n"
        let place = try TemporaryDirectory()
        try place.write(Array(text.utf8), to: "org.a.desktop")
        var program = ApplicationProgram(of: "org.a")
        #expect(!program.isKnown && program.missing == "no program is known" && program.hasBusName)
        let lookup = ManifestDirectories(paths: [place.path]).manifest(of: "org.a")
        let isNew = [program.refresh(lookup), program.refresh(lookup)]
        #expect(isNew == [true, false])
        #expect(program.isKnown && program.transferNames == ["org.a", "a"])
        let limits = LifecycleRules()
        for isWatched in [true, false] {
            var rules = limits
            program.restrict(&rules, to: nil, isWatched: isWatched, within: limits)
            #expect(rules.declaredWakeKinds == [.fetch, .notification] && rules.declaredAssertions.isEmpty)
            #expect(rules.suspensionPolicy == (isWatched ? .keepRunning : .freeze))
        }
        let wake = LifecycleEvent.wake(WakeReason(.push, id: 1), allowance: .zero)
        let explanation = program.explanation(of: .undeclaredMode, for: wake)
        #expect(explanation.contains("does not name remote-notification"))
    }
}
