import EideticCore
import EideticLifecycle
import EideticSupervisor
import Testing

@Suite("Sound, processor, memory and leftovers of an application, without a process")
struct ResourceComponentTests {
    private let start = ApplicationView.start

    @Test("B10 an application that is silent for 5 s is not believed that it plays, until a stream of it plays")
    func silence() {
        var view = ApplicationView.running(.background, assertions: [.audio])
        var sound = SoundWatch(silenceLimit: .seconds(5))
        view.process?.identifiers = { [7, 8] }
        view.playingProcesses = { [9] }
        sound.claim(true)
        let first = sound.handle(.settled, in: view.at(start))
        #expect(sound.needsServer(in: view) && first.isEmpty && sound.deadline == start + .seconds(5))
        let effects = sound.handle(.deadline, in: view.at(start + .seconds(5)))
        let identity = view.lifecycle.process
        #expect(effects.events == [.assertionChanged(.audio, isHeld: false, process: identity)])
        #expect(effects.lines.count == 1 && sound.deadline == nil)
        view.playingProcesses = { [8, 9] }
        let last = sound.handle(.settled, in: view.at(start + .seconds(6)))
        #expect(last.events == [.assertionChanged(.audio, isHeld: true, process: identity)])
    }

    @Test("B10 nobody is denied sound by a server that does not answer, while suspended, or in the foreground")
    func noServer() {
        var sound = SoundWatch(silenceLimit: .seconds(5))
        sound.claim(true)
        let playing = ApplicationView.running(.background, assertions: [.audio])
        for view in [playing, .running(.suspended), .running(.active)] {
            _ = sound.handle(.settled, in: view.at(start))
            #expect(sound.deadline == nil)
        }
        #expect(!sound.needsServer(in: .running(.active)) && !sound.needsServer(in: .running(.suspended)))
        let line = sound.lines(in: playing, place: "/place")
        #expect(line == ["audio: cooperative, as no sound server answers (/place)"])
    }

    @Test("B22 an application in the background is looked at each second: slowed down, called in, and restored later")
    func processor() {
        var view = ApplicationView.running(.background, openTasks: 1)
        var (watch, used) = (ProcessorWatch(share: 80, window: .seconds(1)), Duration.zero)
        func look(after seconds: Int, uses share: Int) -> [ApplicationEffect] {
            used += .milliseconds(10 * share)
            view.process?.processorTime = { [used] in used }
            return watch.handle(.deadline, in: view.at(start + .seconds(seconds)))
        }
        var effects = watch.handle(.settled, in: view.at(start))
        #expect(effects.isEmpty && watch.deadline == start + .seconds(1))
        effects = look(after: 1, uses: 100)
        #expect(effects.isEmpty && watch.deadline == start + .seconds(2))
        effects = look(after: 2, uses: 81)
        #expect(effects.names == ["slowDown"])
        effects = look(after: 3, uses: 81)
        #expect(effects.events == [.backgroundTimeRevoked])
        #expect(watch.report?.contains("called in early") == true)
        view.process?.isThrottled = true
        effects = look(after: 4, uses: 80)
        #expect(effects.names == ["restorePriority"])
        var foreground = ApplicationView.running(.active)
        foreground.process?.isThrottled = true
        effects = watch.handle(.settled, in: foreground.at(start + .seconds(5)))
        #expect(effects.names == ["restorePriority"])
        #expect(watch.deadline == nil && watch.report == nil)
    }

    @Test("B03 a task whose message was lost is found at the next look")
    func lostMessage() {
        var view = ApplicationView.running(.background, openTasks: 1)
        var watch = ProcessorWatch(share: 80, window: .seconds(60))
        _ = watch.handle(.settled, in: view.at(start))
        view.process?.openTasks = { 0 }
        let events = watch.handle(.deadline, in: view.at(start + .seconds(1))).events
        #expect(events == [.openTaskCountChanged(0, process: view.lifecycle.process)])
    }

    @Test("B07 at critical pressure an application in the background has half a second, a suspended one none")
    func memory() {
        let running = ApplicationView.running(.background, openTasks: 1)
        var end = MemoryEnd()
        #expect(!MemoryEnd.spares(running) && MemoryEnd.spares(.running(.active)) && MemoryEnd.spares(.notRunning))
        let first = end.begin(at: .critical, residentMemory: 3 << 20, in: running.at(start))
        #expect(first.events == [.terminate(grace: .zero)] && first.names.contains("explainEnd"))
        #expect(end.deadline == start + .milliseconds(500) && end.isUnderWay(at: start + .seconds(2)))
        #expect(!end.isUnderWay(at: start + .milliseconds(2_500)))
        let second = end.handle(.deadline, in: running.at(start + .milliseconds(500)))
        #expect(second.names == ["handle", "kill"] && end.deadline == nil)
        let suspended = end.begin(at: .urgent, residentMemory: 0, in: .running(.suspended).at(start))
        #expect(suspended.events == [.memoryExhausted])
    }

    /// A process of which something is left for some looks.
    private final class Rest: Leftover {
        var looks: Int
        private(set) var killCount = 0

        init(looks: Int) { self.looks = looks }

        func remove() -> Bool {
            looks -= 1
            return looks < 0
        }

        func killRest() { killCount += 1 }
    }

    @Test("B01 what is left of a process is killed and looked at until nothing is, at growing intervals up to 30 s")
    func leftovers() {
        var (leftovers, now) = (Leftovers<Rest>(), start)
        let rest = Rest(looks: 20)
        leftovers.add(rest)
        leftovers.add(Rest(looks: 0))
        _ = leftovers.clear(at: now)
        #expect(leftovers.processes.count == 1 && leftovers.deadline == start + .milliseconds(2))
        var pauses: [Duration] = []
        while let deadline = leftovers.deadline {
            pauses.append(deadline - now)
            now = deadline
            _ = leftovers.handle(.deadline, in: .notRunning.at(now))
        }
        #expect(pauses.prefix(3) == [.milliseconds(2), .milliseconds(4), .milliseconds(8)])
        #expect(pauses.last == .seconds(30) && pauses.count == 20 && rest.killCount == 20)
    }

    @Test("B01 an application without a program is forgotten after a while, but not while something of it is left")
    func forgotten() {
        var (idleness, view) = (Idleness(limit: .seconds(600)), ApplicationView.notRunning)
        _ = idleness.handle(.settled, in: view.at(start))
        #expect(idleness.deadline == nil)
        (view.hasProgram, view.hasLeftovers) = (false, true)
        _ = idleness.handle(.settled, in: view.at(start))
        #expect(idleness.deadline == start + .seconds(600))
        var effects = idleness.handle(.deadline, in: view.at(start + .seconds(600)))
        #expect(effects.isEmpty)
        view.hasLeftovers = false
        effects = idleness.handle(.deadline, in: view.at(start + .seconds(1_200)))
        #expect(effects.names == ["forget"])
        view.process = .init(view.lifecycle.process)
        _ = idleness.handle(.processChanged, in: view.at(start))
        #expect(idleness.deadline == nil)
    }
}
