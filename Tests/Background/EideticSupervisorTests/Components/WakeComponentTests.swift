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
        wakes.complete(reason, result: .newData, at: now.advanced(by: 3))
        #expect(!wakes.isActive(.location))
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
                wakes.refuse(reason, because: .repeatedWakeCrashes, at: now)
            } else {
                #expect(effects.names == ["recordObstacle"])
            }
            #expect(try #require(wakes.record.schedule.nextTime) >= now.steady + 3_600)
        }
    }

    @Test("B14 ends in the middle of wakes are recorded, and forgiven after a day, which is looked at by a deadline")
    func crashes() {
        var (wakes, view) = (wakes(), view())
        view.lifecycle.wakeCrashCounts = [.fetch: view.lifecycle.rules.wakeCrashLimit + 1]
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

    @Test("B13 the list of waiting notifications comes in packets, of which the last one is marked")
    func notifications() {
        let wakes = wakes()
        #expect(wakes.listNotifications(number: 5).messages == [.wakes(.notifications([], number: 5, isLast: true))])
    }
}
