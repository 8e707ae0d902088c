package import EideticCore
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

    /// The declarations of an application, which the supervisor limits to those of its desktop entry, if it has one.
    package struct Declarations: Sendable, Hashable {
        /// A Boolean value indicating whether leaving the foreground terminates the application.
        package var exitsOnSuspend: Bool
        /// The requested background time of one stay; `nil` for that of the supervisor.
        package var backgroundBudget: Duration?
        package var wakeKinds: Set<WakeReason.Kind>
        package var assertions: Set<ContinuousAssertion>

        package init(
            exitsOnSuspend: Bool = false,
            backgroundBudget: Duration? = nil,
            wakeKinds: Set<WakeReason.Kind> = Set(WakeReason.Kind.allCases),
            assertions: Set<ContinuousAssertion> = Set(ContinuousAssertion.allCases)
        ) {
            self.exitsOnSuspend = exitsOnSuspend
            self.backgroundBudget = backgroundBudget
            self.wakeKinds = wakeKinds
            self.assertions = assertions
        }
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
    }
}

/// The presentation of an application to the user.
package struct PresentationMessage: Sendable, Hashable {
    package var isVisible: Bool
    package var isFocused: Bool

    package init(isVisible: Bool, isFocused: Bool) {
        self.isVisible = isVisible
        self.isFocused = isFocused
    }
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
}

extension Hello: WireRecord {
    package init(identifier: String? = nil) { self.init(version: SupervisionProtocol.version, identifier: identifier) }

    package static let layout = Layout(
        Self.init,
        Field(\.version),
        Field(\.identifier, .optional(.identifier)),
        Field(\.declarations),
        Field(\.presentation),
        Field(\.running)
    )
}

extension Hello.Declarations: WireRecord {
    package static let layout = Layout(
        Self.init,
        \.exitsOnSuspend,
        \.backgroundBudget,
        \.wakeKinds,
        \.assertions
    )
}

extension Hello.RunningState: WireRecord {
    package init(_ state: AdoptedProcess.State, token: [UInt8], generation: UInt32) {
        self.init(state: state, token: token, generation: generation)
    }

    package static let layout = Layout(
        Self.init,
        Field(\.state),
        Field(\.wakes, .list(.value, limit: SupervisionProtocol.listLimit)),
        Field(\.assertions),
        Field(\.token, .token),
        Field(\.generation)
    )
}

extension PresentationMessage: WireRecord {
    package static let layout = Layout(Self.init, \.isVisible, \.isFocused)
}

extension Welcome: WireRecord {
    package init(generation: UInt32, token: [UInt8], archiveDirectory: String? = nil, socketPath: String? = nil) {
        self.init(
            version: SupervisionProtocol.version,
            generation: generation,
            token: token,
            archiveDirectory: archiveDirectory,
            socketPath: socketPath
        )
    }

    package static let layout = Layout(
        Self.init,
        Field(\.version),
        Field(\.generation),
        Field(\.token, .token),
        Field(\.archiveDirectory, .optional(.path)),
        Field(\.socketPath, .optional(.path)),
        Field(\.messageRate),
        Field(\.snapshotPath, .optional(.path))
    )
}

extension AdoptedProcess.State: WireValue {}
