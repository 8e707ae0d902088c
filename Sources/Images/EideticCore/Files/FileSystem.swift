import CLinux
import Glibc
import Synchronization

/// The file layer: one function per system call, so that a test can count calls or make any of them fail.
///
/// Calls that a signal interrupts (`EINTR`) are repeated. Every function blocks: never call one on the main actor or
/// the cooperative pool.
package struct FileSystem: Sendable {
    let observer: (any SystemCallObserver)?

    /// Creates a file layer.
    ///
    /// - Parameter observer: Called before every system call; `nil` by default, which costs one comparison per call.
    package init(observer: (any SystemCallObserver)? = nil) { self.observer = observer }

    /// Makes one system call: calls the observer, repeats after `EINTR`, and turns -1 into an error.
    @inline(__always)
    func perform<Number: SignedInteger>(
        _ call: SystemCall,
        path: String? = nil,
        body: () -> Number
    ) throws(SystemError) -> Number {
        while true {
            if let observer, let number = observer.willPerform(call, path: path) {
                if number == EINTR { continue }
                throw SystemError(call, errorNumber: number, path: path)
            }
            let result = body()
            if result >= 0 { return result }
            if errno != EINTR { throw SystemError(call, errorNumber: errno, path: path) }
        }
    }
}
