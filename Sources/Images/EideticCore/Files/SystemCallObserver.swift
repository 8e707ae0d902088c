/// An observer of system calls, for tests: it is called before each call, and can make the call fail.
package protocol SystemCallObserver: Sendable {
    /// Returns the error number with which the call is to fail, or `nil` to let it proceed.
    func willPerform(_ call: SystemCall, path: String?) -> Int32?
}
