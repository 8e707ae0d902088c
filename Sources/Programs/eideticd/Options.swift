import EideticCore
import EideticSupervisor
import EideticWire
import EideticLifecycle

/// The options of `eideticd`.
struct Options {
    enum Action { case supervise, release, help }

    var action = Action.supervise
    var configuration = SupervisorConfiguration()

    static let help = """
        usage: eideticd [option]…

        Supervises applications: suspends them in the background, limits their background time, and wakes them.

          --keeper                   starts the supervisor again when it crashes (not needed under systemd)
          --release                  continues every suspended application, and ends
          --budget SECONDS           background time of one stay in the background: 5 to 600; 600 by default
          --freezer auto|cgroup2|sigstop
          --control-group DIRECTORY  makes the applications' control groups here; below the own group by default
          --runtime-directory DIRECTORY
                                     sockets and records; EIDETIC_RUNTIME_DIR, or else eidetic in XDG_RUNTIME_DIR, or
                                     /run/eidetic for root
          --state-directory DIRECTORY
                                     saved states of applications; eidetic in XDG_STATE_HOME by default
          --applications DIRECTORY   desktop entries that are looked for before those of XDG_DATA_HOME and XDG_DATA_DIRS
          --transfers PROGRAM        starts eidetic-transferd, and wakes applications when their transfers have ended
          --transfer-socket PATH     transfer.socket in eidetic in XDG_RUNTIME_DIR by default
          --transfer-directory DIRECTORY
                                     eidetic/transfers in XDG_STATE_HOME by default
          --limit NAME=MILLISECONDS  launch, callback, background, termination, expiration, wake, idle, freeze,
                                     freeze-retry, budget, reconnection, quit, forget,
                                     terminal, silence, processor, progress, unread,
                                     launch-answer, conditions
          --processor-share PERCENT  what an application may use of one processor in the background; 80 by default
          --bus ADDRESS              message bus of the user, or none; that of DBUS_SESSION_BUS_ADDRESS by default
          --system-bus ADDRESS       message bus of the location service, or none; the system's by default
          --lift-quotas              wakes applications without regard to their quotas, as on a server
          --message-rate COUNT       messages per second of one application; 32 by default
          --help
        """

    private var manifestDirectories: [String] = []
    private var transferProgram: String?
    private var transferSocket = TransferLocations.socketPath
    private var transferDirectory = TransferLocations.directory

    init(_ arguments: ArraySlice<String>) throws(EideticError) {
        var rest = arguments
        while let argument = rest.popFirst() {
            switch argument {
            case "--help", "-h": action = .help
            case "--keeper": configuration.hasKeeper = true
            case "--release": action = .release
            case "--lift-quotas": configuration.liftsQuotas = true
            default:
                guard Self.names.contains(argument) else { throw Self.failure("unknown option \(argument)") }
                guard let value = rest.popFirst() else { throw Self.failure("\(argument) needs a value") }
                try set(argument, to: value)
            }
        }
        configuration.manifests = ManifestDirectories(environmentAnd: manifestDirectories)
        try setTransfers()
    }

    private mutating func setTransfers() throws(EideticError) {
        guard let transferProgram else { return }
        guard let transferSocket, let transferDirectory else {
            throw Self.failure("--transfers needs HOME, or --transfer-socket and --transfer-directory")
        }
        configuration.transfers = SupervisorConfiguration.Transfers(
            program: transferProgram,
            socketPath: transferSocket,
            directory: transferDirectory
        )
    }

    private static let names = [
        "--budget", "--freezer", "--control-group", "--runtime-directory", "--state-directory", "--limit",
        "--message-rate", "--processor-share", "--applications", "--bus", "--system-bus", "--transfers",
        "--transfer-socket",
        "--transfer-directory",
    ]

    private static func failure(_ message: String) -> EideticError { EideticError(.invalidArgument, message: message) }

    private mutating func set(_ name: String, to value: String) throws(EideticError) {
        switch name {
        case "--budget": configuration.rules.backgroundBudget = try Self.budget(value)
        case "--freezer":
            guard let freezer = SupervisorConfiguration.FreezerSelection(rawValue: value) else {
                throw Self.failure("--freezer is auto, cgroup2 or sigstop, not \(value)")
            }
            configuration.freezer = freezer
        case "--control-group": configuration.controlGroup = try Self.path(value, for: name)
        case "--runtime-directory": configuration.runtimeDirectory = try Self.path(value, for: name)
        case "--state-directory": configuration.stateDirectory = try Self.path(value, for: name)
        case "--message-rate":
            guard let rate = Int(value), (1...1_000_000).contains(rate) else {
                throw Self.failure("--message-rate is a number from 1 to 1000000, not \(value)")
            }
            configuration.messageRate = rate
        case "--processor-share":
            guard let share = Int(value), (1...100_000).contains(share) else {
                throw Self.failure("--processor-share is a number from 1 to 100000, not \(value)")
            }
            configuration.processorShare = share
        case "--applications": manifestDirectories.append(try Self.path(value, for: name))
        case "--bus": configuration.busAddress = value
        case "--system-bus": configuration.systemBusAddress = value
        case "--transfers": transferProgram = try Self.path(value, for: name)
        case "--transfer-socket": transferSocket = try Self.path(value, for: name)
        case "--transfer-directory": transferDirectory = try Self.path(value, for: name)
        default: try setLimit(value)
        }
    }

    private static func budget(_ value: String) throws(EideticError) -> Duration {
        guard let seconds = Int64(value), SupervisorConfiguration.budgetRange.contains(.seconds(seconds)) else {
            throw failure("--budget is a number of seconds from 5 to 600, not \(value)")
        }
        return .seconds(seconds)
    }

    private static func path(_ value: String, for name: String) throws(EideticError) -> String {
        guard value.hasPrefix("/") else { throw failure("\(name) needs an absolute path, not \(value)") }
        return value
    }

    private mutating func setLimit(_ value: String) throws(EideticError) {
        let parts = value.split(separator: "=").map(String.init)
        guard parts.count == 2, let milliseconds = Int64(parts[1]), (0...86_400_000).contains(milliseconds) else {
            throw Self.failure("--limit is NAME=MILLISECONDS, not \(value)")
        }
        guard configuration.setLimit(parts[0], to: .milliseconds(milliseconds)) else {
            throw Self.failure("--limit does not know \(parts[0])")
        }
    }
}

extension SupervisorConfiguration {
    /// Sets a limit by its name; returns `false` for an unknown one.
    fileprivate mutating func setLimit(_ name: String, to limit: Duration) -> Bool {
        switch name {
        case "launch": rules.launchLimit = limit
        case "callback": rules.callbackLimit = limit
        case "background": rules.backgroundLimit = limit
        case "termination": rules.terminationLimit = limit
        case "expiration": rules.expirationLimit = limit
        case "wake": rules.wakeLimit = limit
        case "idle": rules.idleInterval = limit
        case "freeze": rules.freezeLimit = limit
        case "freeze-retry": rules.freezeRetryInterval = limit
        case "budget": rules.backgroundBudget = limit
        case "reconnection": reconnectionLimit = limit
        case "quit": quitGracePeriod = limit
        case "forget": forgetInterval = limit
        case "terminal": terminalInterval = limit
        case "silence": silenceLimit = limit
        case "processor": processorWindow = limit
        case "progress": progressLimit = limit
        case "unread": unreadDataPause = limit
        case "launch-answer": launchAnswerLimit = limit
        case "conditions": conditionInterval = limit
        default: return false
        }
        return true
    }
}
