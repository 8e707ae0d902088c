package import EideticCore
package import EideticLifecycle
package import EideticSupervision

/// The facts about an application that outlive the supervisor's process.
///
/// The kernel knows who runs and who is frozen; this is the rest.
package struct ApplicationRecord: Sendable, Hashable {
    package var program: ProgramDescription?
    package var wasForceQuit = false
    package var launchCrashCount: UInt32 = 0
    package var wakeCrashCounts: [WakeReason.Kind: UInt32] = [:]
    /// The number of processes that were started, of which each has its own control group and page.
    package var processNumber: UInt64 = 0
    package var process: ProcessRecord?
    /// The requests for a launch that waits for the end of the process.
    package var waitingWakes: [OpenWake] = []
    package var waitingURLs: [URLRecord] = []
    package var waitingLaunch: WaitingLaunch?

    package init() {}

    /// Adds a request that waits for the process to connect or to end; one that only a running process can obey is lost
    /// with the supervisor.
    mutating func add(_ request: LifecycleEvent, urlRecord: (IncomingURL) -> URLRecord) {
        switch request {
        case .launch: waitingLaunch = .foreground
        case .launchInBackground: waitingLaunch = waitingLaunch ?? .background
        case .openURL(let url): waitingURLs.append(urlRecord(url))
        case .wake(let reason, let allowance): waitingWakes.append(OpenWake(reason, allowance: allowance))
        default: break
        }
    }

    /// Returns the requests that wait, whose URLs have numbers of another supervisor.
    package func requests(renumber: (URLRecord) -> IncomingURL) -> [LifecycleEvent] {
        let launch: LifecycleEvent? = waitingLaunch.map { launch in
            switch launch {
            case .foreground: .launch(.user)
            case .background: .launchInBackground(.user)
            }
        }
        return (launch.map { [$0] } ?? []) + waitingURLs.map { .openURL(renumber($0)) } + waitingWakes.map(\.event)
    }

    /// A launch by the user that waits for the end of the process.
    package enum WaitingLaunch: UInt8, WireValue, Hashable {
        case foreground = 1, background
    }

    /// A URL that was accepted, and that no process has received.
    package struct URLRecord: Sendable, Hashable {
        package var text: String
        /// The identifier of the application that asked; `nil` for any other program.
        package var source: String?
        /// The number by which its sender asks for the answer; 0 for none.
        package var token: UInt64

        package init(_ url: IncomingURL, token: UInt64 = 0) {
            self.init(text: url.text, source: url.source, token: token)
        }

        init(text: String, source: String?, token: UInt64) {
            self.text = text
            self.source = source
            self.token = token
        }

        /// Returns the URL with a number of this supervisor.
        func url(numbered id: UInt64) -> IncomingURL { IncomingURL(text, id: id, source: source) }
    }

    package struct ProcessRecord: Sendable, Hashable {
        /// The number of the process; 0 while it is being started.
        package var identifier: Int32 = 0
        package var startTime: UInt64 = 0
        package var freezer = FreezerKind.group
        /// The state that the completed callbacks have led to; `nil` before the launch.
        package var state: AdoptedProcess.State?
        /// A Boolean value indicating whether the launch shows nothing.
        package var isBackgroundLaunch = false
        package var assertions: Set<ContinuousAssertion> = []
        package var declarations = Hello.Declarations()
        /// The time at which the process was suspended; `nil` while it runs.
        package var suspensionTime: Duration?
        package var killReport: String?
        /// The directory of the control group; `nil` if signals are used.
        package var groupPath: String?
        /// The memory priorities that the application's processes had chosen, other than 0.
        package var memoryPriorities: [MemoryPriority] = []
        /// A Boolean value indicating whether it is taken for a program that does not know the supervisor.
        package var isPlain = false
        /// The requests that were accepted and not carried out.
        package var intention = Intention()
        /// The numbers of the notifications of progress on the screen, by the identifiers of the work.
        package var progressNumbers: [String: UInt32] = [:]

        package init() {}
    }

    /// The memory priority that a process had chosen, and the one that was written over it.
    package struct MemoryPriority: Sendable, Hashable {
        package let process: Int32
        package let own: Int32
        package let written: Int32
    }

    /// The requests that were accepted and not carried out, with which a successor continues.
    package struct Intention: Sendable, Hashable {
        package var isVisible = true
        package var isFocused = true
        package var isTerminating = false
        /// The time at which the open tasks of a terminating application expire; `nil` if it does not terminate.
        package var graceEnd: Duration?
        /// The wakes that the application has not received.
        package var wakes: [OpenWake] = []
        /// The URLs that the application has not received.
        package var urls: [URLRecord] = []
        /// The presentation that the application has reported last.
        package var presentation: PresentationMessage?

        package init() {}
    }
}

extension ApplicationRecord: WireRecord {
    package static let layout = Layout(
        from: Self.init,
        NumberedField(1, optional: \.program),
        NumberedField(2, \.wasForceQuit),
        NumberedField(3, \.launchCrashCount),
        NumberedField(4, \.processNumber),
        NumberedField(5, optional: \.process),
        NumberedField(6, \.waitingWakes),
        NumberedField(7, \.waitingURLs),
        NumberedField(8, optional: \.waitingLaunch),
        NumberedField(10, \.wakeCrashCounts, as: .crashCounts)
    )
    // The number of the format, not of its fields.
    .preceded(by: 5 as UInt8)
}

extension ApplicationRecord.ProcessRecord: WireRecord {
    package static let layout = Layout(
        from: Self.init,
        NumberedField(1, \.identifier),
        NumberedField(2, \.startTime),
        NumberedField(3, \.freezer, as: .freezer),
        NumberedField(4, optional: \.state),
        NumberedField(5, \.isBackgroundLaunch),
        NumberedField(6, \.assertions),
        NumberedField(7, \.declarations),
        NumberedField(8, optional: \.suspensionTime),
        NumberedField(9, optional: \.killReport),
        NumberedField(10, optional: \.groupPath),
        NumberedField(11, \.intention),
        NumberedField(12, \.memoryPriorities),
        NumberedField(13, \.progressNumbers, as: .dictionary(by: <)),
        NumberedField(14, \.isPlain)
    )
}

extension ApplicationRecord.Intention: WireRecord {
    package static let layout = Layout(
        from: Self.init,
        NumberedField(1, \.isVisible),
        NumberedField(2, \.isFocused),
        NumberedField(3, \.isTerminating),
        NumberedField(4, optional: \.graceEnd),
        NumberedField(5, \.wakes),
        NumberedField(6, \.urls),
        NumberedField(7, optional: \.presentation)
    )
}

extension ApplicationRecord.URLRecord: WireRecord {
    package static let layout = Layout(Self.init, \.text, \.source, \.token)
}

extension OpenWake: WireRecord {
    package static let layout = Layout({ OpenWake($0, allowance: $1) }, \.reason, \.allowance)
}

extension ApplicationRecord.MemoryPriority: WireRecord {
    package static let layout = Layout(Self.init, \.process, \.own, \.written)
}

extension Layout<[WakeReason.Kind: UInt32]> {
    /// The number of crashes by the kind of wake.
    static var crashCounts: Self { dictionary { $0.rawValue < $1.rawValue } }
}

extension Layout<FreezerKind> {
    /// The name; that of a later version is read as the kind that every kernel has.
    fileprivate static var freezer: Self {
        Layout<String>.text(limit: 16).map(to: { FreezerKind(rawValue: $0) ?? .signals }, from: \.rawValue)
    }
}
