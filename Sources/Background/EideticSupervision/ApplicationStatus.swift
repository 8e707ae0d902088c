package import EideticCore
package import EideticLifecycle

/// The state of one application, as `eidetic app list` prints it.
package struct ApplicationStatus: Sendable, Hashable {
    /// The means by which the process is suspended.
    package enum Freezer: UInt8, WireValue, Hashable, CaseIterable {
        case none
        /// A control group of version 2.
        case controlGroup
        /// SIGSTOP, because no control group can be used.
        case signal
    }

    package var identifier: String
    package var state: LifecycleState
    /// The number of the process; `nil` if none runs.
    package var process: Int32?
    package var freezer = Freezer.none
    package var openTasks: UInt32 = 0
    /// The remaining background time; `nil` if none runs or it has no limit.
    package var backgroundTimeRemaining: Duration?
    package var suspensionCount: UInt64 = 0
    package var suspendedTime: Duration = .zero
    /// The resident memory of all its processes, in bytes; 0 if unknown.
    package var residentMemory: UInt64 = 0
    /// A Boolean value indicating whether the user ended it.
    package var wasForceQuit = false
    /// The report of the last end of a process; `nil` if none has ended.
    package var lastExit: String?
    /// The file with a snapshot of its window; `nil` if there is none.
    package var snapshotPath: String?

}

extension ApplicationStatus: WireRecord {
    package init(identifier: String, state: LifecycleState) {
        self.init(identifier: identifier, state: state, process: nil)
    }

    package static let layout = Layout(
        Self.init,
        Field(\.identifier, .identifier),
        Field(\.state),
        Field(\.process),
        Field(\.freezer),
        Field(\.openTasks),
        Field(\.backgroundTimeRemaining),
        Field(\.suspensionCount),
        Field(\.suspendedTime),
        Field(\.residentMemory),
        Field(\.wasForceQuit),
        Field(\.lastExit, .optional(.path)),
        Field(\.snapshotPath, .optional(.path))
    )
}

extension LifecycleState: WireValue {}
