import EideticCore
package import LifecycleCore

extension Application {
    /// How an application lives; checked by ``Application/start(_:delegate:)``.
    public struct Configuration: Sendable {
        /// Names the application's saved state; `nil`, the default, saves none.
        ///
        /// Letters, digits, dots, hyphens and underscores; at most 255 of them, and not a dot first.
        public var identifier: String?

        /// Where state is saved.
        ///
        /// `nil`, the default, takes `STATE_DIRECTORY`, as systemd sets it, else `eidetic` in `XDG_STATE_HOME`.
        public var stateDirectory: String?

        /// Background time of one stay in the background, for all tasks together: 5 to 600 s, 600 s by default.
        public var backgroundBudget: Duration = .seconds(600)

        /// Time for open tasks after a request to stop (SIGTERM, SIGINT).
        ///
        /// `nil`, the default, means 25 s, and under systemd, which is asked for more time as long as tasks are open,
        /// the ``backgroundBudget``. Zero or more.
        public var terminationGracePeriod: Duration?

        /// Time for open tasks after Ctrl-Z; 5 s by default.
        public var suspensionGracePeriod: Duration = .seconds(5)

        /// Whether the application ends when it leaves the foreground, instead of being suspended; `false` by default.
        public var exitsOnSuspend = false

        /// Whether it may run in the background at all; `true` by default.
        ///
        /// Where it may not, leaving the foreground ends it.
        public var isMultitaskingSupported = true

        /// Whether SIGTERM, SIGINT and Ctrl-Z are handled; `true` by default.
        ///
        /// A signal that is ignored, or has a handler of the application's own, is left alone in any case.
        public var handlesSignals = true

        /// Whether systemd is told of readiness and of the stop, where it asks for it (`NOTIFY_SOCKET`).
        ///
        /// `true` by default. Readiness is told when the launch is over.
        public var notifiesServiceManager = true

        /// Whether sleep of the machine is delayed while tasks are open, and locking the screen noticed; `true` by
        /// default.
        ///
        /// Needs logind; without it nothing is delayed.
        public var usesLoginManager = true

        /// Whether memory is watched; `true` by default.
        public var monitorsMemory = true

        /// Files whose changes are told as ``Notice/Name/settingsChanged``; absolute paths, none by default.
        ///
        /// They need not exist, but their directories must.
        public var settingsFiles: [String] = []

        /// Where the system's own settings are, for tests that cannot change them.
        package var systemSettingsDirectory = "/etc"
        /// Other limits than the documented ones, for tests that cannot wait.
        package var rules = LifecycleRules()
        /// The same for the budget.
        package var budgetOverride: Duration?

        /// Creates a configuration of defaults.
        public init() {}

        func validate() throws(EideticError) {
            guard backgroundBudget >= .seconds(5), backgroundBudget <= .seconds(600) else {
                throw EideticError(.invalidArgument, message: "backgroundBudget is \(backgroundBudget), not 5 to 600 s")
            }
            guard terminationGracePeriod ?? .zero >= .zero, suspensionGracePeriod >= .zero else {
                throw EideticError(.invalidArgument, message: "a grace of less than nothing")
            }
            if let identifier { try Self.validate(identifier) }
        }

        private static func validate(_ identifier: String) throws(EideticError) {
            let allowed = identifier.utf8.allSatisfy { byte in
                switch UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 {
                case true: true
                case false: UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || [45, 46, 95].contains(byte)
                }
            }
            guard allowed, !identifier.isEmpty, identifier.utf8.count <= 255, identifier.first != "." else {
                throw EideticError(.invalidArgument, message: "\"\(identifier)\" cannot name an application's state")
            }
        }

        /// The rules of the state machine that this stands for.
        func makeLifecycleRules() -> LifecycleRules {
            var rules = rules
            rules.backgroundBudget = budgetOverride ?? backgroundBudget
            rules.suspensionPolicy = exitsOnSuspend || !isMultitaskingSupported ? .terminate : .keepRunning
            return rules
        }
    }
}
