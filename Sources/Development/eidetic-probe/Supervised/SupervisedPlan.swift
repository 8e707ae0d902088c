/// The behaviour of the probe, from its arguments.
struct SupervisedPlan {
    /// The name that begins each printed line.
    var name = "probe"
    /// The identifier in the first message.
    var identifier: String?
    /// The file in which each thread of the storm marks that it is inside a task.
    var flagsPath: String?
    /// The file of which bytes are locked until the end, and their numbers.
    var lockedPath: String?
    var lockedBytes = [0]
    /// The path that a thread looks at after `didEnterBackground`; the call may never return.
    var touchedPath: String?
    /// The callback that is never acknowledged.
    var blockedCallback: String?
    /// The callback that is acknowledged after SIGUSR1.
    var waitedCallback: String?
    /// The names of tasks that begin with `didEnterBackground`.
    var tasks: [String] = []
    var endsTasksAtExpiration = false
    var forksTwice = false
    /// A Boolean value indicating whether a busy child is started.
    var forks = false
    /// The memory that is used from the start on, and the one that is added on a thread, in MiB.
    var memory = 0
    var growth = 0
    /// The background time that the first message asks for.
    var budget: Duration?
    /// A Boolean value indicating whether the shared page is truncated after the welcome.
    var destroysPage = false
    /// The number of invalid or useless messages that follow the welcome.
    var floodCount = 0
    /// The number of works that the probe begins with `didBecomeActive`, each of them twice.
    var workCount = 0
    /// The number of works that it names with `didEnterBackground`, as if an earlier supervisor had accepted them.
    var resumedWorkCount = 0
    /// A Boolean value indicating whether it tells each later supervisor that it continues work.
    var claimsWork = false
    var crashesDuringLaunch = false
    /// The exit status after the launch; `nil` to continue.
    var exitStatus: Int32?

    init(_ arguments: ArraySlice<String>) {
        var rest = arguments
        while let argument = rest.popFirst() {
            switch argument {
            case "--fork-twice": forksTwice = true
            case "--fork": forks = true
            case "--end-tasks": endsTasksAtExpiration = true
            case "--destroy-page": destroysPage = true
            case "--claim-work": claimsWork = true
            case "--crash": crashesDuringLaunch = true
            default: if let value = rest.popFirst() { set(argument, to: value) }
            }
        }
    }

    private mutating func set(_ name: String, to value: String) {
        switch name {
        case "--name": self.name = value
        case "--identifier": identifier = value
        case "--flags": flagsPath = value
        case "--lock": lockedPath = value
        case "--bytes": lockedBytes = value.compactMap(\.wholeNumberValue)
        case "--touch": touchedPath = value
        case "--block": blockedCallback = value
        case "--wait": waitedCallback = value
        case "--task": tasks.append(value)
        case "--flood": floodCount = Int(value) ?? 0
        case "--works": workCount = Int(value) ?? 0
        case "--resumed-works": resumedWorkCount = Int(value) ?? 0
        case "--memory": memory = Int(value) ?? 0
        case "--growth": growth = Int(value) ?? 0
        case "--budget": budget = Int(value).map { .seconds($0) }
        case "--exit": exitStatus = Int32(value)
        default: break
        }
    }
}
