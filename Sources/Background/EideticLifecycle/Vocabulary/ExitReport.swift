/// The end of a process.
package struct ExitReport: Sendable, Hashable {
    package let process: ProcessIdentity
    package let status: Int32
    /// The reason for which the host killed the process; `nil` if it ended by itself.
    package let killReason: KillReason?
    /// A Boolean value indicating whether the launch was not yet complete.
    package let wasLaunching: Bool
    /// The number of open background tasks.
    package let openTasks: Int
}
