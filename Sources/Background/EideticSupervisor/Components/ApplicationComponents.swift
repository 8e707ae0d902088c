import EideticLifecycle
import EideticSupervision

/// The components of an application: a new one is a property, and an element of the list.
struct ApplicationComponents {
    var suspension: Suspension
    var taskNames = TaskNames()
    var adoption: Adoption
    var urls: URLRequests
    var plain: PlainProgram
    var launches: LaunchRequests
    var leftovers = Leftovers<RunningProcess>()
    var idleness: Idleness
    var sound: SoundWatch
    var processor: ProcessorWatch
    var memory = MemoryEnd()
    var work: ContinuedWorks
    var transfers = TransferHold()
    var wakes: Wakes
    var sockets = KeptSockets()
    var thaws = ShortThaws()
    var remarks = ApplicationRemarks()

    /// A component, whatever its type.
    struct Element: Sendable {
        let deadline: @Sendable (ApplicationComponents) -> Duration?
        let handle: @Sendable (inout ApplicationComponents, ApplicationChange, ApplicationView) -> [ApplicationEffect]

        init<Component: ApplicationComponent & SendableMetatype>(
            _ path: any WritableKeyPath<ApplicationComponents, Component> & Sendable
        ) {
            deadline = { $0[keyPath: path].deadline }
            handle = { $0[keyPath: path].handle($1, in: $2) }
        }
    }

    /// All components, in the order in which they learn of a change.
    static let all = [
        Element(\.suspension), Element(\.taskNames), Element(\.adoption), Element(\.urls), Element(\.plain),
        Element(\.launches),
        Element(\.leftovers), Element(\.idleness), Element(\.sound),
        Element(\.processor), Element(\.memory), Element(\.work), Element(\.transfers),
        Element(\.wakes), Element(\.sockets), Element(\.thaws),
    ]

    init(_ context: SupervisorContext) {
        let configuration = context.configuration
        suspension = Suspension(terminalInterval: configuration.terminalInterval)
        adoption = Adoption(limit: configuration.reconnectionLimit, gracePeriod: configuration.quitGracePeriod)
        urls = URLRequests(after: context.firstNumber)
        plain = PlainProgram(limit: configuration.connectionLimit)
        launches = LaunchRequests(limit: configuration.launchAnswerLimit)
        idleness = Idleness(limit: configuration.forgetInterval)
        sound = SoundWatch(silenceLimit: configuration.silenceLimit)
        work = ContinuedWorks(progressLimit: configuration.progressLimit)
        wakes = Wakes(
            schedule: WakeSchedule(at: context.clock.now),
            lastNumber: context.firstNumber,
            conditionInterval: configuration.conditionInterval,
            liftsQuotas: configuration.liftsQuotas
        )
        processor = ProcessorWatch(share: configuration.processorShare, window: configuration.processorWindow)
    }

    /// The first deadline of all.
    var deadline: Duration? { Self.all.compactMap { $0.deadline(self) }.min() }

    // MARK: Concerns of several

    /// Continues with what an earlier supervisor has recorded.
    mutating func restore(_ record: ApplicationRecord) {
        // Numbers that an earlier call has given.
        urls.forgetTokens()
        adoption.restore(record.requests { urls.renumber($0) })
        guard let process = record.process else { return }
        urls.announce(process.intention.urls)
        work.strays = process.progressNumbers
    }

    /// Keeps what a process of an earlier supervisor has not received for the next process, which is launched for it.
    mutating func keepRequests(of intention: ApplicationRecord.Intention) {
        adoption.keep(intention.urls.map { .openURL(urls.renumber($0)) } + intention.wakes.map(\.event))
    }

    /// Takes over the process of an earlier supervisor, which has connected, in the state that it reports.
    mutating func connect(_ hello: Hello, in view: ApplicationView) -> [ApplicationEffect] {
        guard let record = adoption.record else { return [] }
        if let running = hello.running {
            sound.claim(running.assertions.contains(.audio))
            work.resumes = record.assertions.contains(.continued)
            for wake in running.wakes { wakes.adopt(wake, at: view.scheduleTime()) }
        }
        return [.recordOnce(adoption.connect(running: hello.running, presentation: hello.presentation, in: view))]
    }

    /// Tells the sender of a URL what has become of it.
    mutating func answerSender(
        of url: IncomingURL,
        outcome: IncomingURL.Outcome,
        in view: ApplicationView
    ) -> [ApplicationEffect] {
        urls.complete(url, outcome: outcome, startObstacle: view.process == nil ? remarks.obstacle : nil)
    }

    /// Passes a refusal to those who wait for the outcome of the request.
    mutating func reject(
        _ request: LifecycleEvent?,
        because refusal: LifecycleEffect.Refusal,
        in view: ApplicationView
    ) -> [ApplicationEffect] {
        switch request {
        case .openURL(let url)?: answerSender(of: url, outcome: .refused(refusal), in: view)
        case .wake(let wake, _)?: wakes.refuse(wake, because: refusal, at: view.scheduleTime())
        default: []
        }
    }

    /// Records that a process has ended, the current one or an earlier one.
    mutating func recordEnd(of process: RunningProcess, isCurrent: Bool) -> [ApplicationEffect] {
        leftovers.add(process)
        guard isCurrent else { return [] }
        if let intention = adoption.record?.intention { keepRequests(of: intention) }
        adoption.end()
        return process.launchAnswer.map { launches.complete($0) } ?? []
    }

    /// Continues a suspended application that does more than answer, as when its window is closed meanwhile.
    mutating func continueInBackground(in view: ApplicationView) -> [ApplicationEffect] {
        view.lifecycle.state == .suspended ? thaws.continueInBackground(in: view) : []
    }

    /// Records that the application says that it holds an assertion, or no more.
    mutating func claim(
        _ assertion: ContinuousAssertion,
        isHeld: Bool,
        in view: ApplicationView
    ) -> [ApplicationEffect] {
        guard let process = view.process else { return [] }
        let continuation = isHeld ? continueInBackground(in: view) : []
        if assertion == .audio { sound.claim(isHeld) }
        // It is held by the work that the application has named, for as long as there is some.
        if assertion == .continued, isHeld || !work.isEmpty { return continuation }
        return continuation + [.handle(.assertionChanged(assertion, isHeld: isHeld, process: process.identity))]
    }
}
