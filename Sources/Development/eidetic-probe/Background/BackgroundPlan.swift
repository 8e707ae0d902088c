import EideticBackground
import EideticCore
import EideticLifecycle

/// The behaviour of the probe, from its arguments.
struct BackgroundPlan: Sendable {
    /// A background task that is opened at the launch.
    struct PlannedTask: Sendable {
        let name: String
        /// The time from entering the background to the end of the task; `nil` if it does not end.
        let duration: Duration?
    }

    var configuration = Application.Configuration()
    var plannedTasks: [PlannedTask] = []
    /// The callbacks that block, with the time for which they do.
    var hangs: [String: Duration] = [:]
    /// The callback, end of a task (`done NAME`) or expiration (`expired NAME`) in which the process stops itself.
    var stop: String?
    /// The tasks of a library, with a handler that ends them or that blocks.
    var libraryTasks: [String] = []
    var blockingLibraryTasks: [String] = []
    /// The pixel memory to allocate per second, in MiB, until the pressure is critical; 0 for none.
    var pixelGrowth = 0
    /// A Boolean value indicating whether tasks are ended at their expiration.
    var endsTasksAtExpiration = true
    /// A Boolean value indicating whether another task is opened in the expiration handler.
    var beginsTaskAtExpiration = false
    /// The presentations to set one by one, after the application became active.
    var presentations: [ApplicationPresentation] = []
    var archive: [UInt8]?
    var crashesAtLaunch = false
    /// The number of begin and end pairs to measure.
    var pairCount = 0
    /// The directory of a disk cache, into which the probe writes continuously.
    var cacheDirectory: String?
    var writesToCache = true
    /// The file of `ProbeWord` in which the entries of the cache are recorded, and the name in their keys.
    var wordsPath: String?
    var writerName = "app"
    /// The FIFO that receives a byte for each entry that was written.
    var storeReportPath: String?
    /// The number of the removed file at which a sweep of the cache waits until its background time has expired.
    var heldFile: Int?
    var skipsStart = false
    /// The number of entries that are being stored when the application, which is never started, ends.
    var unstartedWrites = 0
    /// The number of threads that open and close tasks continuously.
    var stormThreads = 0
    /// A Boolean value indicating whether a stream of states is kept without requesting another value.
    var abandonsStateStream = false
    /// A Boolean value indicating whether the application returns to the foreground at the expiration of the first
    /// task.
    var returnsToForegroundAtExpiration = false
    /// A Boolean value indicating whether all tasks are ended at the expiration of the first one.
    var endsAllTasksAtExpiration = false
    /// The notices to observe, with their treatment during suspension.
    var observedNotices: [(name: Notice.Name, behavior: SuspensionBehavior)] = []
    /// The time for which the observer of a notice handles it.
    var noticeWork = Duration.zero
    /// The memory to allocate per second, in MiB, until the pressure is critical; 0 for none.
    var memoryGrowth = 0
    /// The memory that is allocated before at once, in MiB.
    var firstMemory = 0
    /// The URL of an image to load.
    var url: String?
    var continuesInBackground = false
    /// A Boolean value indicating whether the image is loaded by the shared pipeline, created before the start.
    var usesSharedPipeline = false
    /// The URL to load repeatedly, several times at once.
    var stormURL: String?
    /// A Boolean value indicating whether the probe requests its end before the start.
    var stopsAtStart = false
    /// The beginning of the URLs that the probe opens.
    var openedScheme: String?
    /// A Boolean value indicating whether a wake is not completed until it is cancelled.
    var holdsWakes = false
    /// A Boolean value indicating whether the probe holds the assertion for audio from the launch on.
    var playsAudio = false
    /// The command that plays: the probe holds the assertion for audio until it has ended.
    var player: String?
    /// The callback in which the probe begins work that the user has started.
    var workCallback: String?
    /// A Boolean value indicating whether the application leaves the foreground when that work has begun.
    var leavesWithWork = false
    /// A Boolean value indicating whether a task is open from entering the background on, and the processor is used.
    var isBusyInBackground = false
    /// A Boolean value indicating whether the launch prints that the application can run in the background, or cannot.
    var printsMultitasking = false
    /// A Boolean value indicating whether an exit handler prints the thread on which it runs.
    var printsExitThread = false
    /// A Boolean value indicating whether the main thread blocks once the application is active.
    var blocksMainThread = false
    /// A Boolean value indicating whether a thread reads standard input.
    var readsInput = false

    init(arguments: ArraySlice<String>) throws(EideticError) {
        var arguments = arguments
        while let option = arguments.popFirst() { try parse(option, arguments: &arguments) }
    }

    private mutating func parse(_ option: String, arguments: inout ArraySlice<String>) throws(EideticError) {
        switch option {
        case "--task":
            let (name, milliseconds) = try Self.pair(from: &arguments)
            plannedTasks.append(PlannedTask(name: name, duration: milliseconds < 0 ? nil : .milliseconds(milliseconds)))
        case "--hang":
            let (name, milliseconds) = try Self.pair(from: &arguments)
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
        case "--no-memory-thresholds": configuration.usesMemoryThresholds = false
        case "--end-all-at-expiry": endsAllTasksAtExpiration = true
        case "--continue-in-background": continuesInBackground = true
        case "--ignore-terminal": configuration.followsTerminal = false
        case "--hold-wakes": holdsWakes = true
        case "--audio": playsAudio = true
        case "--leave-with-work": leavesWithWork = true
        case "--busy": isBusyInBackground = true
        case "--print-exit-thread": printsExitThread = true
        case "--print-multitasking": printsMultitasking = true
        case "--block-main-thread": blocksMainThread = true
        case "--read-input": readsInput = true
        case "--shared-pipeline": usesSharedPipeline = true
        default: try parse(option, value: Self.value(from: &arguments))
        }
    }

    private mutating func parse(_ option: String, value: String) throws(EideticError) {
        switch option {
        case "--identifier": configuration.identifier = value
        case "--state-directory": configuration.stateDirectory = value
        case "--stop-in": stop = value
        case "--archive": archive = Array(value.utf8)
        case "--cache": cacheDirectory = value
        case "--words": wordsPath = value
        case "--name": writerName = value
        case "--stores": storeReportPath = value
        case "--hold-sweep": heldFile = try Self.number(from: value)
        case "--unstarted-writes": unstartedWrites = try Self.number(from: value)
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
        case "--observer-limit":
            configuration.rules.observerLimit = .milliseconds(try Self.number(from: value))
        case "--library-task": libraryTasks.append(value)
        case "--blocking-library-task": blockingLibraryTasks.append(value)
        case "--notice-work": noticeWork = .milliseconds(try Self.number(from: value))
        case "--allocate": pixelGrowth = try Self.number(from: value)
        case "--storm": stormThreads = try Self.number(from: value)
        case "--grow": memoryGrowth = try Self.number(from: value)
        case "--grow-from": firstMemory = try Self.number(from: value)
        case "--load": url = value
        case "--load-storm": stormURL = value
        case "--settings": configuration.settingsFiles.append(value)
        case "--supervisor-socket":
            configuration.connectsToSupervisor = true
            configuration.supervisorSocketPath = value
        case "--reconnect-limit":
            configuration.supervisorReconnectLimit = .milliseconds(try Self.number(from: value))
        case "--open": openedScheme = value
        case "--player": player = value
        case "--continued": workCallback = value
        case "--system-directory": configuration.systemSettingsDirectory = value
        case "--observe": observedNotices.append((Notice.Name(value), .coalesce))
        case "--observe-dropping": observedNotices.append((Notice.Name(value), .drop))
        default: throw EideticError(.invalidArgument, message: "unknown option \(option)")
        }
    }

    private static func value(from arguments: inout ArraySlice<String>) throws(EideticError) -> String {
        guard let value = arguments.popFirst() else {
            throw EideticError(.invalidArgument, message: "an option has no value")
        }
        return value
    }

    private static func number(from text: String) throws(EideticError) -> Int {
        guard let number = Int(text) else { throw EideticError(.invalidArgument, message: "\(text) is not a number") }
        return number
    }

    private static func pair(from arguments: inout ArraySlice<String>) throws(EideticError) -> (String, Int) {
        let parts = try value(from: &arguments).split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2 else {
            throw EideticError(.invalidArgument, message: "the value is not NAME=MILLISECONDS")
        }
        return (parts[0], try number(from: parts[1]))
    }
}
