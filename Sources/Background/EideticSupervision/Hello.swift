package import EideticLifecycle

/// The first message of an application: its version, its identity, and its declarations.
package struct Hello: Sendable, Hashable {
    package var version = SupervisionProtocol.version
    /// The identifier of the application; `nil` if it has none.
    package var identifier: String?
    package var declarations = Declarations()
    /// The presentation to the user, if the application knows it; a launch with `isVisible == false` is one into the
    /// background.
    package var presentation: PresentationMessage?
    /// The state of an application that was launched by an earlier supervisor; `nil` before its launch.
    package var running: RunningState?

    package init(identifier: String? = nil) { self.identifier = identifier }

    /// The declarations of an application, which the supervisor limits to those of its desktop entry, if it has one.
    package struct Declarations: Sendable, Hashable {
        /// A Boolean value indicating whether leaving the foreground terminates the application.
        package var exitsOnSuspend = false
        /// The requested background time of one stay; `nil` for that of the supervisor.
        package var backgroundBudget: Duration?
        package var wakeKinds = Set(WakeReason.Kind.allCases)
        package var assertions = Set(ContinuousAssertion.allCases)

        package init() {}
    }

    /// The state of an application between two supervisors.
    package struct RunningState: Sendable, Hashable {
        /// The state that the completed callbacks have led to: active, inactive or background.
        package var state: AdoptedProcess.State
        package var wakes: [WakeReason] = []
        package var assertions: Set<ContinuousAssertion> = []
        /// The token of the earlier supervisor's `welcome`, by which the application is recognised.
        package var token: [UInt8]
        /// The generation of the earlier supervisor.
        package var generation: UInt32

        package init(_ state: AdoptedProcess.State, token: [UInt8], generation: UInt32) {
            (self.state, self.token, self.generation) = (state, token, generation)
        }
    }
}

/// The presentation of an application to the user.
package struct PresentationMessage: Sendable, Hashable {
    package var isVisible: Bool
    package var isFocused: Bool

    package init(isVisible: Bool, isFocused: Bool) { (self.isVisible, self.isFocused) = (isVisible, isFocused) }
}

/// The answer to ``Hello``; its packet has one descriptor, that of the shared page.
package struct Welcome: Sendable, Hashable {
    package var version = SupervisionProtocol.version
    /// The number of the supervisor: each one that adopts applications has the next number.
    package var generation: UInt32
    /// The proof of identity for the next supervisor.
    package var token: [UInt8]
    /// The directory of the application's saved state; `nil` if none is saved.
    package var archiveDirectory: String?
    /// The path of the socket at which the next supervisor listens; `nil` if there will be none.
    package var socketPath: String?
    /// The number of messages per second that the supervisor reads.
    package var messageRate: UInt32 = 32
    /// The file for a snapshot of the application's window; `nil` if none is kept.
    package var snapshotPath: String?

    package init(generation: UInt32, token: [UInt8], archiveDirectory: String? = nil, socketPath: String? = nil) {
        (self.generation, self.token) = (generation, token)
        (self.archiveDirectory, self.socketPath) = (archiveDirectory, socketPath)
    }
}
