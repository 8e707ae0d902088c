import EideticCore
package import EideticLifecycle

/// The ends of processes in the middle of wakes, which outlive the machine's run, and are forgiven after a day or to
/// another version of the program.
package struct WakeCrashes: Sendable, Hashable {
    package struct ProgramFile: Sendable, Hashable {
        package var inode: UInt64
        /// The time of its modification, in nanoseconds since 1970.
        package var modificationTime: Int64

        package init(inode: UInt64, modificationTime: Int64) {
            self.inode = inode
            self.modificationTime = modificationTime
        }

        /// The file at a path; `nil` if there is none.
        package init?(at path: String?) {
            guard let path, let status = try? FileSystem().status(of: path) else { return nil }
            self.init(inode: status.inode, modificationTime: status.modificationTime.nanoseconds)
        }
    }

    /// The time after which they are forgiven, in seconds.
    private static let memory: Int64 = .day

    package var counts: [WakeReason.Kind: UInt32] = [:]
    /// The time of the last one by the steady clock.
    package var time: Int64 = 0
    /// The program that has ended; `nil` if it was not found.
    package var program: ProgramFile?

    /// Returns the reason for which they are forgiven; `nil` if they are not.
    package func pardon(at now: ScheduleTime, program current: ProgramFile?) -> String? {
        if now.steady >= time + Self.memory { return "a day has passed" }
        if let current, current != program { return "its program is another one" }
        return nil
    }
}
