import EideticLifecycle

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
}
