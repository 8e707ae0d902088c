import EideticCore
package import EideticLifecycle

extension Application {
    /// The configuration of an application; checked by ``Application/start(_:delegate:)``.
    public struct Configuration: Sendable {
        /// The identifier of the application and of its saved state; `nil`, the default, saves no state.
        ///
        /// Letters, digits, dots, hyphens and underscores, at most 255 characters, not beginning with a dot.
        public var identifier: String?

        /// The absolute path of the directory for saved state.
        ///
        /// `nil`, the default, means `STATE_DIRECTORY`, which systemd sets, or else `eidetic` in `XDG_STATE_HOME`.
        public var stateDirectory: String?

        /// The background time of one stay in the background, for all tasks together: 5 to 600 s.
        ///
        /// `nil`, the default, means no limit until the process is asked to terminate or to stop, or the machine
        /// sleeps.
        public var backgroundBudget: Duration?

        /// The time that open tasks have after a request to terminate (SIGTERM, SIGINT, SIGHUP).
        ///
        /// Zero or more. `nil`, the default, means 25 s, or under systemd ``backgroundBudget``, or 600 s without a
        /// budget. The stop time-out of systemd is extended while tasks are open.
        public var terminationGracePeriod: Duration?

        /// The time that open tasks have after Ctrl-Z; 5 s by default.
        public var suspensionGracePeriod: Duration = .seconds(5)

        /// A Boolean value indicating whether leaving the foreground terminates the application instead of suspending
        /// it; `false` by default.
        public var exitsOnSuspend = false

        /// The kinds of background work for which a supervisor runs or wakes the application.
        ///
        /// `nil`, the default, means those of its desktop entry, or all kinds without one. A desktop entry with
        /// `X-Eidetic-` keys takes precedence over this setting.
        public var backgroundModes: Set<BackgroundMode>?

        /// A Boolean value indicating whether the application can run in the background; `true` by default.
        ///
        /// If it cannot, leaving the foreground terminates it.
        public var isMultitaskingSupported = true

        /// A Boolean value indicating whether SIGTERM, SIGINT, SIGHUP and Ctrl-Z are handled; `true` by default.
        ///
        /// A signal that is ignored, or has the application's own handler, is left unchanged.
        public var handlesSignals = true

        /// A Boolean value indicating whether systemd is notified of readiness and stopping; `true` by default.
        ///
        /// It takes effect if systemd has set `NOTIFY_SOCKET`. Readiness is sent after the launch.
        package var notifiesServiceManager = true

        /// A Boolean value indicating whether logind is used; `true` by default.
        ///
        /// Open tasks then delay sleep of the machine, and a locked screen makes the application inactive. It has no
        /// effect if logind does not run.
        package var usesLoginManager = true

        /// A Boolean value indicating whether the available memory is monitored; `true` by default.
        package var monitorsMemory = true

        /// A Boolean value indicating whether the application connects to this user's supervisor, if one runs; `false`
        /// by default.
        ///
        /// The socket is `supervisor` in `EIDETIC_RUNTIME_DIR`, or else in `$XDG_RUNTIME_DIR/eidetic`, or for root in
        /// `/run/eidetic`. An application that the supervisor has launched is always connected. Without a supervisor
        /// the application runs alone.
        public var connectsToSupervisor = false

        /// A Boolean value indicating whether a background job of a terminal (`program &`) counts as an application in
        /// the background; `true` by default.
        ///
        /// Set it to `false` for programs with windows, which are visible whatever the terminal does. The first
        /// reported window has the same effect.
        public var followsTerminal = true

        /// The absolute paths of files whose changes are posted as ``Notice/Name/settingsChanged``; none by default.
        ///
        /// The files need not exist, but their directories must.
        public var settingsFiles: [String] = []

        /// The socket of the supervisor, and a descriptor that is connected to it, for tests.
        package var supervisorSocketPath: String?
        package var supervisorDescriptor: Int32?
        /// The time for which the application waits for the next supervisor; 15 s by default.
        package var supervisorReconnectLimit: Duration = .seconds(15)
        /// The directory of the system's settings; tests replace it.
        package var systemSettingsDirectory = "/etc"
        /// The limits of the state machine; tests shorten them.
        package var rules = LifecycleRules()
        /// A Boolean value indicating whether control groups announce their thresholds; tests do without.
        package var usesMemoryThresholds = true
        /// A background time outside the documented range, for tests.
        package var budgetOverride: Duration?

        /// Creates a configuration of defaults.
        public init() {}

        func validate() throws(EideticError) {
            if let backgroundBudget, backgroundBudget < .seconds(5) || backgroundBudget > .seconds(600) {
                throw EideticError(
                    .invalidArgument,
                    message: "backgroundBudget is \(backgroundBudget), but must be 5 to 600 s"
                )
            }
            guard terminationGracePeriod ?? .zero >= .zero, suspensionGracePeriod >= .zero else {
                throw EideticError(.invalidArgument, message: "a grace period is negative")
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
                throw EideticError(
                    .invalidArgument,
                    message:
                        "invalid identifier \"\(identifier)\": use letters, digits, '.', '-' and '_', not beginning with '.'"
                )
            }
        }

        func makeLifecycleRules() -> LifecycleRules {
            var rules = rules
            rules.backgroundBudget = budgetOverride ?? backgroundBudget
            rules.suspensionPolicy = exitsOnSuspend || !isMultitaskingSupported ? .terminate : .keepRunning
            return rules
        }
    }
}
