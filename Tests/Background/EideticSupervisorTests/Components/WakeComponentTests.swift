import EideticLifecycle
import EideticSupervision
import EideticSupervisor
import Testing

@Suite("Wakes of an application, without a process")
struct WakeComponentTests {
    private let start = ApplicationView.start
    private let now = ScheduleTime(steady: 1_700_000_000, local: 1_700_003_600, offset: 3_600)

    private func wakes() -> Wakes {
        Wakes(
            schedule: WakeSchedule(at: now),
            lastNumber: 100,
            conditionInterval: .seconds(10),
            liftsQuotas: true
        )
    }

    private func view(_ view: ApplicationView = .running(.suspended), after seconds: Int64 = 0) -> ApplicationView {
        var view = view
        view.scheduleTime = { [now] in now.advanced(by: seconds) }
        return view
    }

    @Test("B14 a wake has a number of its own, is a request, and is under way until its result is known")
    func begun() {
        var wakes = wakes()
        let effects = wakes.start(.location, session: "s", payload: [1], in: view(), at: now)
        let reason = WakeReason(.location, id: 101, session: "s", payload: [1])
        // That it begins is logged when it is accepted.
        #expect(effects.lines.isEmpty)
        #expect(effects.requests == [.wake(reason, allowance: view().lifecycle.rules.limit(of: .location))])
        #expect(wakes.isActive(.location) && !wakes.isActive(.push))
        _ = wakes.complete(reason, result: .newData, in: view(), at: now.advanced(by: 3))
        #expect(!wakes.isActive(.location))
    }

    @Test("B14 a program that does not tell of its windows is not recorded as used")
    func plainUse() {
        var (wakes, active) = (wakes(), view(.running(.active)))
        active.isPlain = true
        _ = wakes.handle(.settled, in: active)
        #expect(!wakes.record.schedule.isInUse)
        active.isPlain = false
        _ = wakes.handle(.settled, in: active)
        #expect(wakes.record.schedule.isInUse)
    }

    @Test("B14 a planned wake that is refused comes again after an hour, and without a program as well")
    func refused() throws {
        for hasProgram in [true, false] {
            var (wakes, view) = (wakes(), view(.notRunning))
            view.hasProgram = hasProgram
            let request = TaskRequest(.refresh, identifier: "a")
            try wakes.record.schedule.submit(request, at: now)
            wakes.record.schedule.tasks[0].isRunning = true
            let effects = wakes.begin(.task(request), in: view, at: now)
            if hasProgram {
                let reason = WakeReason(.fetch, id: 101, session: "a")
                #expect(effects.names == ["request"])
                _ = wakes.refuse(reason, because: .repeatedWakeCrashes, at: now)
            } else {
                #expect(effects.names == ["recordObstacle"])
            }
            #expect(try #require(wakes.record.schedule.nextTime) >= now.steady + 3_600)
        }
    }

    @Test("B14 ends in the middle of wakes are recorded, and forgiven after a day, which is looked at by a deadline")
    func crashes() {
        var (wakes, view) = (wakes(), view())
        view.lifecycle.history.wakeCrashCounts = [.fetch: view.lifecycle.rules.wakeCrashLimit + 1]
        _ = wakes.handle(.settled, in: view.at(start))
        #expect(wakes.deadline == start + .seconds(600) && wakes.record.crashes.time == now.steady)
        let early = wakes.handle(.deadline, in: view.at(start + .seconds(600)))
        #expect(early.isEmpty && wakes.deadline == start + .seconds(1_200))
        let late = wakes.handle(.deadline, in: self.view(after: 86_400).at(start + .seconds(86_400)))
        #expect(late.names == ["log", "forgiveWakeCrashes"])
    }

    @Test("B14 processing is stopped when a condition is not met any more, which is looked at while it runs")
    func conditions() throws {
        var (wakes, view) = (wakes(), view(.running(.background, openTasks: 1)))
        let request = TaskRequest(
            .processing,
            identifier: "a",
            constraints: TaskRequest.Constraints(needsExternalPower: true)
        )
        try wakes.record.schedule.submit(request, at: now)
        wakes.record.schedule.tasks[0].isRunning = true
        let effects = wakes.handle(.settled, in: view.at(start))
        #expect(effects.names == ["watchConditions"] && wakes.deadline == start + .seconds(10))
        view.conditions = {
            var conditions = TaskConditions()
            conditions.isOnExternalPower = true
            return conditions
        }
        let met = wakes.handle(.deadline, in: view.at(start + .seconds(10)))
        #expect(met.isEmpty && wakes.deadline == start + .seconds(20))
        view.conditions = {
            var conditions = TaskConditions()
            conditions.isOnExternalPower = false
            return conditions
        }
        let unmet = wakes.handle(.deadline, in: view.at(start + .seconds(20)))
        #expect(unmet.events == [.backgroundTimeRevoked] && unmet.lines.count == 1)
    }

    @Test("B14 a session whose process did not live to complete its wake is announced again, and no other wake is")
    func failedSession() {
        var wakes = wakes()
        let session = WakeReason(.session, id: 1, session: "s")
        let failed = wakes.complete(session, result: .failed, in: view(.notRunning), at: now)
        #expect(failed.names == ["log", "reportSessionFailure"])
        for (result, view) in [(WakeResult.failed, view()), (.newData, view(.notRunning))] {
            #expect(wakes.complete(session, result: result, in: view, at: now).names == ["log"])
        }
        let refused = [LifecycleEffect.Refusal.tooManyRequests, .undeclaredMode, .forceQuit].map { refusal in
            wakes.refuse(session, because: refusal, at: now).names
        }
        #expect(refused == [["reportSessionFailure"], [], []])
    }

    @Test("B10 a command that the application does not declare is refused with the reason")
    func undeclared() {
        var (wakes, view) = (wakes(), view())
        view.lifecycle.rules.declaredWakeKinds = []
        view.explanation = { "\($0) is not declared" }
        let commands: [WakeCommand] = [
            .setFetchInterval(.minimum), .submit(TaskRequest(.refresh, identifier: "a"), number: 3),
            .registerForMessages,
            .setLocationUpdates(true),
        ]
        for command in commands {
            let effects = wakes.obey(command, in: view, at: now)
            #expect(effects.names == ["refuse", "send"])
        }
        #expect(wakes.record.isEmpty)
        let off = wakes.obey(.setLocationUpdates(false), in: view, at: now)
        #expect(off.names == ["updateLocation"])
    }

    @Test("B13 a message is delivered, waits for the throttle, or is refused with the reason; a simulation as well")
    func delivery() throws {
        var (wakes, view) = (wakes(), view())
        let payload = try PushPayload(Array(#"{"aps":{"content-available":1}}"#.utf8))
        let first = wakes.deliver(payload, in: view, at: now)
        #expect(first.effects.names == ["request", "saveWakes"] && first.refusal == nil && first.note == nil)
        let delayed = (0..<1_000).lazy.map { _ in wakes.deliver(payload, in: view, at: now) }.first { $0.note != nil }
        #expect(delayed?.effects.names == ["log", "saveWakes"])
        view.lifecycle.history.wasForceQuit = true
        let refused = wakes.deliver(payload, in: view, at: now)
        #expect(refused.effects.names == ["refuse"])
        #expect(refused.refusal == LifecycleEffect.Refusal.forceQuit.explanation)
        let simulations: [(ControlRequest.Simulation, String)] = [
            (.task("a"), "no request with the identifier a is pending"), (.memory(4), "the level is 1, 2 or 3"),
            (.location(latitude: 91, longitude: 0, accuracy: 1), "latitude, longitude or accuracy is out of range"),
            (
                .location(latitude: 1, longitude: 0, accuracy: 1),
                "the application has not asked for updates of the location"
            ),
        ]
        for (simulation, reason) in simulations {
            let outcome = wakes.simulate(simulation, in: view, at: now)
            #expect(outcome.refusal == reason)
        }
        #expect(wakes.simulate(.fetch, in: view, at: now).effects.names == ["request", "saveWakes"])
        #expect(wakes.simulate(.fetch, in: view, at: now).refusal == "a fetch is under way")
    }

    @Test("B13 the list of waiting notifications comes in packets, of which the last one is marked")
    func notifications() {
        let wakes = wakes()
        #expect(wakes.listNotifications(number: 5).messages == [.wakes(.notifications([], number: 5, isLast: true))])
    }
}
