import EideticSupervision
import Glibc
package import EideticLifecycle

package struct SupervisorConfiguration: Sendable {
    package enum FreezerSelection: String, Sendable, CaseIterable {
        /// A control group, or else signals.
        case automatic = "auto"
        case group = "cgroup2"
        case signals = "sigstop"
    }

    /// The directory for sockets, pages and records; of this user alone.
    package var runtimeDirectory = SupervisionProtocol.defaultRuntimeDirectory
    /// The directory for the saved states of applications.
    package var stateDirectory = Self.defaultStateDirectory
    /// The directory in which the control groups of applications are made; below the own group if `nil`.
    package var controlGroup: String?
    package var freezer = FreezerSelection.automatic
    /// The limits of every application; the background time is an upper bound for what applications ask for.
    package var rules = LifecycleRules()
    /// The time that open tasks have when an application is asked to quit; 25 s by default.
    package var quitGracePeriod: Duration = .seconds(25)
    /// The number of messages per second that an application may send; 32 by default.
    package var messageRate = 32
    /// The time in which an application connects again after the start of a supervisor; 10 s by default.
    package var reconnectionLimit: Duration = .seconds(10)
    /// The time after which an application without a program and without a process is forgotten; 10 min by default.
    package var forgetInterval: Duration = .seconds(600)
    /// The time between two looks at the terminal of a suspended job; 10 s by default.
    package var terminalInterval: Duration = .seconds(10)
    /// The time without a stream at the sound server after which an application that says that it plays sound is not
    /// believed; 5 s by default.
    package var silenceLimit: Duration = .seconds(5)
    /// The time without progress after which work that the user has started is stopped in the background; 30 s by
    /// default.
    package var progressLimit: Duration = .seconds(30)
    /// The time after which an application is woken again for data on a socket that it has not read, and twice that
    /// before the next time; 10 s by default.
    package var unreadDataPause: Duration = .seconds(10)
    /// The time after which a launch whose program has not started is answered, while it goes on; 5 s by default.
    package var launchAnswerLimit: Duration = .seconds(5)
    /// The time after its start in which a program connects; 2 s by default.
    ///
    /// One that does not is suspended without callbacks, and ended by SIGTERM, until it does.
    package var connectionLimit: Duration = .seconds(2)
    /// The time between two looks at the conditions of processing that runs, for those that nothing reports; 10 s by
    /// default.
    package var conditionInterval: Duration = .seconds(10)
    /// The share of one processor that an application in the background may use, in percent; 80 by default.
    package var processorShare = 80
    /// The time for which an application uses more before it is slowed down, and again before its background time ends;
    /// 60 s by default.
    package var processorWindow: Duration = .seconds(60)
    /// The greatest number of known applications; 1,000 by default.
    package var applicationLimit = 1_000

    /// A Boolean value indicating whether the parent process is a keeper, which starts the supervisor again when it
    /// crashes; `false` by default.
    package var hasKeeper = false
    /// The directories of desktop entries, which declare what applications may do; those of XDG by default.
    package var manifests = ManifestDirectories(environmentAnd: [])

    /// A Boolean value indicating whether the quotas of wakes do not apply, as on a server; `false` by default.
    package var liftsQuotas = false
    /// The address of the user's message bus; `nil` for that of the environment, `none` for no bus.
    package var busAddress: String?
    /// The address of the bus of the location service; `nil` for the system's, `none` for no bus.
    package var systemBusAddress: String?

    /// The transfer process that the supervisor starts; `nil` for none.
    package var transfers: Transfers?

    package init() {}

    /// The program and the places of the transfer process.
    package struct Transfers: Sendable {
        package var program: String
        package var socketPath: String
        package var directory: String

        package init(program: String, socketPath: String, directory: String) {
            self.program = program
            self.socketPath = socketPath
            self.directory = directory
        }
    }

    /// The least and the greatest background time of one stay.
    package static let budgetRange: ClosedRange<Duration> = .seconds(5) ... .seconds(600)

    /// The first path in `STATE_DIRECTORY`, which systemd sets, or else `eidetic` in the XDG state directory.
    package static var defaultStateDirectory: String {
        if let given = variable("STATE_DIRECTORY") { return String(given.prefix { $0 != ":" }) }
        return (variable("XDG_STATE_HOME") ?? "\(variable("HOME") ?? "/var/lib")/.local/state") + "/eidetic"
    }

    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
    }
}
