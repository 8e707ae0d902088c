import EideticCLI
import EideticCore
import EideticLifecycle
import EideticSupervisor

/// The options of `eideticd`.
enum SupervisorOptions {
    /// A limit that `--limit` sets.
    private struct Limit {
        typealias Setter = @Sendable (inout SupervisorConfiguration, Duration) -> Void

        static let setters: [(name: String, set: Setter)] = [
            ("launch", { $0.rules.launchLimit = $1 }),
            ("callback", { $0.rules.callbackLimit = $1 }),
            ("background", { $0.rules.backgroundLimit = $1 }),
            ("termination", { $0.rules.terminationLimit = $1 }),
            ("expiration", { $0.rules.expirationLimit = $1 }),
            ("wake", { $0.rules.wakeLimit = $1 }),
            ("idle", { $0.rules.idleInterval = $1 }),
            ("freeze", { $0.rules.freezeLimit = $1 }),
            ("freeze-retry", { $0.rules.freezeRetryInterval = $1 }),
            ("budget", { $0.rules.backgroundBudget = $1 }),
            ("reconnection", { $0.reconnectionLimit = $1 }),
            ("quit", { $0.quitGracePeriod = $1 }),
            ("forget", { $0.forgetInterval = $1 }),
            ("terminal", { $0.terminalInterval = $1 }),
            ("silence", { $0.silenceLimit = $1 }),
            ("processor", { $0.processorWindow = $1 }),
            ("progress", { $0.progressLimit = $1 }),
            ("unread", { $0.unreadDataPause = $1 }), ("launch-answer", { $0.launchAnswerLimit = $1 }),
            ("connection", { $0.connectionLimit = $1 }),
            ("conditions", { $0.conditionInterval = $1 }),
        ]

        let set: Setter
        let duration: Duration

        init?(_ text: String) {
            let parts = text.split(separator: "=").map(String.init)
            guard parts.count == 2, let set = Self.setters.first(where: { $0.name == parts[0] })?.set,
                let milliseconds = Int64(parts[1]), (0...86_400_000).contains(milliseconds)
            else { return nil }
            self.set = set
            duration = .milliseconds(milliseconds)
        }
    }

    static let keeper = Option(
        name: "keeper",
        help: "restart the supervisor when it crashes (not needed under systemd)"
    )
    static let release = Option(name: "release", help: "resume every suspended application, and exit")
    private static let liftQuotas = Option(
        name: "lift-quotas",
        help: "ignore the quotas of wakes, as on a server"
    )
    private static let budget = TypedOption<Duration>(
        "budget",
        placeholder: "SECONDS",
        expecting: "a number of seconds from 5 to 600",
        help: "background time per stay in the background (default: 600)",
        parse: { text in
            Int64(text).map { .seconds($0) }.flatMap { SupervisorConfiguration.budgetRange.contains($0) ? $0 : nil }
        }
    )
    private static let freezer = TypedOption<SupervisorConfiguration.FreezerSelection>(
        "freezer",
        placeholder: "HOW",
        expecting: "auto, cgroup2 or sigstop",
        help: "how to stop the processes of an application: auto, cgroup2 or sigstop (default: auto)",
        parse: { SupervisorConfiguration.FreezerSelection(rawValue: $0) }
    )
    private static let controlGroup = path(
        "control-group",
        help: "create the applications' control groups here (default: below the supervisor's own group)"
    )
    private static let runtimeDirectory = path(
        "runtime-directory",
        help:
            "sockets and records (default: EIDETIC_RUNTIME_DIR, or eidetic in XDG_RUNTIME_DIR, or /run/eidetic for root)"
    )
    private static let stateDirectory = path(
        "state-directory",
        help: "saved states of applications (default: eidetic in XDG_STATE_HOME)"
    )
    private static let applications = path(
        "applications",
        help: "look for desktop entries here before XDG_DATA_HOME and XDG_DATA_DIRS; can be repeated"
    )
    private static let transfers = path(
        "transfers",
        placeholder: "PROGRAM",
        help: "start eidetic-transferd, and wake applications when their transfers have ended"
    )
    private static let transferSocket = path(
        "transfer-socket",
        placeholder: "PATH",
        help: "its socket (default: transfer.socket in eidetic in XDG_RUNTIME_DIR)"
    )
    private static let transferDirectory = path(
        "transfer-directory",
        help: "directory of eidetic-transferd (default: eidetic/transfers in XDG_STATE_HOME)"
    )
    private static let limit = TypedOption<Limit>(
        "limit",
        placeholder: "NAME=MILLISECONDS",
        expecting: "the name of a limit and at most 86400000 milliseconds, such as idle=100",
        help: "set a limit: \(Limit.setters.map(\.name).joined(separator: ", ")); can be repeated",
        parse: { Limit($0) }
    )
    private static let processorShare = TypedOption<Int>(
        "processor-share",
        placeholder: "PERCENT",
        in: 1...100_000,
        help: "share of one processor that an application may use in the background (default: 80)"
    )
    private static let messageRate = TypedOption<Int>(
        "message-rate",
        placeholder: "COUNT",
        in: 1...1_000_000,
        help: "messages per second from one application (default: 32)"
    )
    private static let bus = address(
        "bus",
        help: "message bus of the user, or none (default: DBUS_SESSION_BUS_ADDRESS)"
    )
    private static let systemBus = address(
        "system-bus",
        help: "message bus of the location service, or none (default: the system's)"
    )

    static let all = [
        keeper, release, budget.definition, freezer.definition, controlGroup.definition, runtimeDirectory.definition,
        stateDirectory.definition, applications.definition, transfers.definition, transferSocket.definition,
        transferDirectory.definition, limit.definition, processorShare.definition, bus.definition,
        systemBus.definition, liftQuotas, messageRate.definition,
    ]

    /// Returns the configuration of a command line.
    ///
    /// - Throws: `invalidArgument` if the transfer process has no place.
    static func configuration(from arguments: Arguments) throws(EideticError) -> SupervisorConfiguration {
        var configuration = SupervisorConfiguration()
        configuration.hasKeeper = arguments.contains(keeper)
        configuration.liftsQuotas = arguments.contains(liftQuotas)
        configuration.controlGroup = arguments[controlGroup]
        configuration.busAddress = arguments[bus]
        configuration.systemBusAddress = arguments[systemBus]
        configuration.manifests = ManifestDirectories(environmentAnd: arguments.values(of: applications))
        if let budget = arguments[budget] { configuration.rules.backgroundBudget = budget }
        if let freezer = arguments[freezer] { configuration.freezer = freezer }
        if let directory = arguments[runtimeDirectory] { configuration.runtimeDirectory = directory }
        if let directory = arguments[stateDirectory] { configuration.stateDirectory = directory }
        if let share = arguments[processorShare] { configuration.processorShare = share }
        if let rate = arguments[messageRate] { configuration.messageRate = rate }
        for limit in arguments.values(of: limit) { limit.set(&configuration, limit.duration) }
        if let program = arguments[transfers] {
            guard let socketPath = arguments[transferSocket] ?? TransferLocations.socketPath,
                let directory = arguments[transferDirectory] ?? TransferLocations.directory
            else {
                throw EideticError(
                    .invalidArgument,
                    message: "--transfers needs HOME, or --transfer-socket and --transfer-directory"
                )
            }
            configuration.transfers = .init(program: program, socketPath: socketPath, directory: directory)
        }
        return configuration
    }

    private static func path(_ name: String, placeholder: String = "DIRECTORY", help: String) -> TypedOption<String> {
        TypedOption(
            name,
            placeholder: placeholder,
            expecting: "an absolute path",
            help: help,
            parse: { $0.hasPrefix("/") ? $0 : nil }
        )
    }

    private static func address(_ name: String, help: String) -> TypedOption<String> {
        TypedOption(name, placeholder: "ADDRESS", expecting: "an address, or none", help: help, parse: { $0 })
    }
}
