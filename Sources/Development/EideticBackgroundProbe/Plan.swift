import EideticBackground
import EideticCore
import LifecycleCore

/// What the probe is to do, from its arguments.
struct Plan: Sendable {
    /// A background task that is open from the launch on.
    struct Work: Sendable {
        let name: String
        /// How long it goes on after entering the background; `nil`: for ever.
        let duration: Duration?
    }

    var configuration = Application.Configuration()
    var works: [Work] = []
    /// Callbacks that block, and for how long.
    var hangs: [String: Duration] = [:]
    /// Whether tasks are ended when their time is up.
    var endsAtExpiry = true
    /// Whether one more task is begun in the expiration handler.
    var beginsAtExpiry = false
    /// What is presented once it is active.
    var presents: [Presentation] = []
    var archive: [UInt8]?
    var crashesAtLaunch = false
    /// Pairs of begin and end to make, and whether to measure or stress them.
    var pairs = 0
    /// A directory into which a disk cache writes without a pause.
    var cacheDirectory: String?
    var writes = true
    var withoutStart = false
    /// Threads that begin and end tasks without a pause.
    var stormThreads = 0
    /// Keeps a stream of states without asking it again.
    var keepsStates = false
    /// Comes back to the foreground when the first task's time is up.
    var returnsAtExpiry = false
    /// Ends all tasks when the first one's time is up.
    var endsAllAtExpiry = false
    /// Notices to observe, each with what happens to it while the application is stopped.
    var observed: [(name: Notice.Name, behavior: SuspensionBehavior)] = []
    /// MiB of memory to take each second, until it becomes critical; 0 for none.
    var growth = 0
    /// A picture to load, and how.
    var url: String?
    var continuesInBackground = false
    /// Loads this over and over, several times at once.
    var stormURL: String?
    /// Is told to stop before it has done anything.
    var stopsAtStart = false

    init(_ arguments: ArraySlice<String>) throws(EideticError) {
        var rest = arguments
        while let option = rest.popFirst() { try read(option, &rest) }
    }

    private mutating func read(_ option: String, _ rest: inout ArraySlice<String>) throws(EideticError) {
        switch option {
        case "--task":
            let (name, milliseconds) = try Self.pair(&rest)
            works.append(Work(name: name, duration: milliseconds < 0 ? nil : .milliseconds(milliseconds)))
        case "--hang":
            let (name, milliseconds) = try Self.pair(&rest)
            hangs[name] = .milliseconds(milliseconds)
        case "--ignore-expiry": endsAtExpiry = false
        case "--begin-at-expiry": beginsAtExpiry = true
        case "--return-at-expiry": returnsAtExpiry = true
        case "--background": presents.append(.background)
        case "--inactive": presents.append(.inactive)
        case "--foreground": presents.append(.active)
        case "--crash-at-launch": crashesAtLaunch = true
        case "--exits-on-suspend": configuration.exitsOnSuspend = true
        case "--no-multitasking": configuration.isMultitaskingSupported = false
        case "--stop-at-start": stopsAtStart = true
        case "--no-start": withoutStart = true
        case "--no-writes": writes = false
        case "--keep-states": keepsStates = true
        case "--end-all-at-expiry": endsAllAtExpiry = true
        case "--continue-in-background": continuesInBackground = true
        default: try readValue(option, Self.value(&rest))
        }
    }

    private mutating func readValue(_ option: String, _ value: String) throws(EideticError) {
        switch option {
        case "--identifier": configuration.identifier = value
        case "--state-directory": configuration.stateDirectory = value
        case "--archive": archive = Array(value.utf8)
        case "--cache": cacheDirectory = value
        case "--pairs": pairs = try Self.number(value)
        case "--budget": configuration.shortBudget = .milliseconds(try Self.number(value))
        case "--grace": configuration.stopGrace = .milliseconds(try Self.number(value))
        case "--job-grace": configuration.jobStopGrace = .milliseconds(try Self.number(value))
        case "--launch-limit": configuration.rules.launchLimit = .milliseconds(try Self.number(value))
        case "--callback-limit": configuration.rules.callbackLimit = .milliseconds(try Self.number(value))
        case "--expiry-limit": configuration.rules.expiryLimit = .milliseconds(try Self.number(value))
        case "--background-limit": configuration.rules.backgroundLimit = .milliseconds(try Self.number(value))
        case "--termination-limit": configuration.rules.terminationLimit = .milliseconds(try Self.number(value))
        default: try readWork(option, value)
        }
    }

    private mutating func readWork(_ option: String, _ value: String) throws(EideticError) {
        switch option {
        case "--storm": stormThreads = try Self.number(value)
        case "--grow": growth = try Self.number(value)
        case "--load": url = value
        case "--load-storm": stormURL = value
        case "--settings": configuration.settingsFiles.append(value)
        case "--system-directory": configuration.systemDirectory = value
        case "--observe": observed.append((Notice.Name(value), .coalesce))
        case "--observe-dropping": observed.append((Notice.Name(value), .drop))
        default: throw EideticError(.invalidArgument, "no option \(option)")
        }
    }

    private static func value(_ rest: inout ArraySlice<String>) throws(EideticError) -> String {
        guard let value = rest.popFirst() else { throw EideticError(.invalidArgument, "a value is missing") }
        return value
    }

    private static func number(_ text: String) throws(EideticError) -> Int {
        guard let number = Int(text) else { throw EideticError(.invalidArgument, "\(text) is not a number") }
        return number
    }

    private static func pair(_ rest: inout ArraySlice<String>) throws(EideticError) -> (String, Int) {
        let parts = try value(&rest).split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { throw EideticError(.invalidArgument, "not NAME=MILLISECONDS") }
        return (parts[0], try number(parts[1]))
    }
}
