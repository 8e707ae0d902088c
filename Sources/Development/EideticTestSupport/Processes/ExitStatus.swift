/// The way a process ended.
package enum ExitStatus: Sendable, Hashable {
    /// The process exited with this status.
    case exited(Int32)
    /// This signal terminated the process.
    case signalled(Int32)

    /// Converts a wait status of `waitpid(2)`.
    init(waitStatus: Int32) {
        let signal = waitStatus & 0x7f
        self = signal == 0 ? .exited((waitStatus >> 8) & 0xff) : .signalled(signal)
    }
}
