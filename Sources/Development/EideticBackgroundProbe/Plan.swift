import EideticBackground
import EideticCore
import LifecycleCore

/// What the probe is to do, from its arguments.
struct ProbePlan: Sendable {
    /// A background task that is open from the launch on.
    struct PlannedTask: Sendable {
        let name: String
        /// How long it goes on after entering the background; `nil`: for ever.
        let duration: Duration?
    }

    var configuration = Application.Configuration()
    var plannedTasks: [PlannedTask] = []
    /// Callbacks that block, and for how long.
    var hangs: [String: Duration] = [:]
    /// Whether tasks are ended when their time is up.
    var endsTasksAtExpiration = true
    /// Whether one more task is begun in the expiration handler.
    var beginsTaskAtExpiration = false
    /// What is presented once it is active.
    var presentations: [ApplicationPresentation] = []
    var archive: [UInt8]?
    var crashesAtLaunch = false
    /// Pairs of begin and end to make, and whether to measure or stress them.
    var pairCount = 0
    /// A directory into which a disk cache writes without a pause.
    var cacheDirectory: String?
    var writesToCache = true
    var skipsStart = false
    /// Threads that begin and end tasks without a pause.
    var stormThreads = 0
    /// Keeps a stream of states without asking it again.
    var abandonsStateStream = false
    /// Comes back to the foreground when the first task's time is up.
    var returnsToForegroundAtExpiration = false
    /// Ends all tasks when the first one's time is up.
    var endsAllTasksAtExpiration = false
    /// Notices to observe, each with what happens to it while the application is stopped.
    var observedNotices: [(name: Notice.Name, behavior: SuspensionBehavior)] = []
    /// MiB of memory to take each second, until it becomes critical; 0 for none.
    var memoryGrowth = 0
    /// A picture to load, and how.
    var url: String?
    var continuesInBackground = false
    /// Loads this over and over, several times at once.
    var stormURL: String?
    /// Is told to stop before it has done anything.
    var stopsAtStart = false

    init(arguments: ArraySlice<String>) throws(EideticError) {
        var rest = arguments
        while let option = rest.popFirst() { try parse(option, arguments: &rest) }
    }

    private mutating func parse(_ option: String, arguments rest: inout ArraySlice<String>) throws(EideticError) {
        switch option {
        case "--task":
            let (name, milliseconds) = try Self.pair(from: &rest)
            plannedTasks.append(PlannedTask(name: name, duration: milliseconds < 0 ? nil : .milliseconds(milliseconds)))
        case "--hang":
            let (name, milliseconds) = try Self.pair(from: &rest)
            hangs[name] = .milliseconds(milliseconds)
        case "--ignore-expiry": endsTasksAtExpiration = false
        case "--begin-at-expiry": beginsTaskAtExpiration = true
        case "--return-at-expiry": returnsToForegroundAtExpiration = true
        case "--background": presentations.append(.background)
        case "--inactive": presentations.append(.inactive)
        case "--foreground": presentations.append(.active)
        case "--crash-at-launch": crashesAtLaunch = true
        case "--exits-on-suspend": configuration.exitsOnSuspend = true
        case "--no-multitasking": configuration.isMultitaskingSupported = false
        case "--stop-at-start": stopsAtStart = true
        case "--no-start": skipsStart = true
        case "--no-writes": writesToCache = false
        case "--keep-states": abandonsStateStream = true
        case "--end-all-at-expiry": endsAllTasksAtExpiration = true
        case "--continue-in-background": continuesInBackground = true
        default: try parse(option, value: Self.value(from: &rest))
        }
    }

    private mutating func parse(_ option: String, value: String) throws(EideticError) {
        switch option {
        case "--identifier": configuration.identifier = value
        case "--state-directory": configuration.stateDirectory = value
        case "--archive": archive = Array(value.utf8)
        case "--cache": cacheDirectory = value
        case "--pairs": pairCount = try Self.number(from: value)
        case "--budget": configuration.budgetOverride = .milliseconds(try Self.number(from: value))
        case "--grace": configuration.terminationGracePeriod = .milliseconds(try Self.number(from: value))
        case "--job-grace": configuration.suspensionGracePeriod = .milliseconds(try Self.number(from: value))
        case "--launch-limit": configuration.rules.launchLimit = .milliseconds(try Self.number(from: value))
        case "--callback-limit": configuration.rules.callbackLimit = .milliseconds(try Self.number(from: value))
        case "--expiry-limit": configuration.rules.expirationLimit = .milliseconds(try Self.number(from: value))
        case "--background-limit": configuration.rules.backgroundLimit = .milliseconds(try Self.number(from: value))
        case "--termination-limit": configuration.rules.terminationLimit = .milliseconds(try Self.number(from: value))
        default: try parseLoad(option, value: value)
        }
    }

    private mutating func parseLoad(_ option: String, value: String) throws(EideticError) {
        switch option {
        case "--storm": stormThreads = try Self.number(from: value)
        case "--grow": memoryGrowth = try Self.number(from: value)
        case "--load": url = value
        case "--load-storm": stormURL = value
        case "--settings": configuration.settingsFiles.append(value)
        case "--system-directory": configuration.systemSettingsDirectory = value
        case "--observe": observedNotices.append((Notice.Name(value), .coalesce))
        case "--observe-dropping": observedNotices.append((Notice.Name(value), .drop))
        default: throw EideticError(.invalidArgument, message: "no option \(option)")
        }
    }

    private static func value(from rest: inout ArraySlice<String>) throws(EideticError) -> String {
        guard let value = rest.popFirst() else { throw EideticError(.invalidArgument, message: "a value is missing") }
        return value
    }

    private static func number(from text: String) throws(EideticError) -> Int {
        guard let number = Int(text) else { throw EideticError(.invalidArgument, message: "\(text) is not a number") }
        return number
    }

    private static func pair(from rest: inout ArraySlice<String>) throws(EideticError) -> (String, Int) {
        let parts = try value(from: &rest).split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { throw EideticError(.invalidArgument, message: "not NAME=MILLISECONDS") }
        return (parts[0], try number(from: parts[1]))
    }
}
