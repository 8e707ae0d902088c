import EideticCore
import Glibc

/// A thread that waits in the kernel for byte 0 of a lock file, for another thread whose time is limited.
///
/// The kernel lists who waits for a lock, so that a holder that is suspended is found and continued. `fcntl` has no
/// time limit, and a library must not use signals to interrupt it: a wait whose time is over goes on, releases the lock
/// as soon as it has it, and can be wanted again until then.
final class LockWaiter: Sendable {
    enum Outcome {
        case locked
        /// Nobody wanted the lock when its turn came.
        case released
        case failed(SystemError)
    }

    private struct State {
        var isWanted = true
        var outcome: Outcome?
    }

    private let file: OpenFile
    private let files: FileSystem
    private let state = Monitor(State())

    init(file: OpenFile, files: FileSystem) {
        self.file = file
        self.files = files
        Thread.start(name: "eidetic-lock") { [self] in run() }
    }

    private func run() {
        var outcome = Outcome.locked
        do throws(SystemError) {
            try files.waitForByteLock(at: DirectoryLockByte.changes, of: file.descriptor)
        } catch {
            outcome = .failed(error)
        }
        state.withLock { state in
            if case .locked = outcome, !state.isWanted {
                try? files.unlockByte(at: DirectoryLockByte.changes, of: file.descriptor)
                outcome = .released
            }
            state.outcome = outcome
        }
        state.broadcast()
    }

    /// Waits for the end of the wait; `nil` if it goes on after `limit`, and is not wanted for now.
    func wait(atMost limit: Duration) -> Outcome? {
        state.withLock { $0.isWanted = true }
        if let outcome = state.wait(for: limit, until: { $0.outcome }) { return outcome }
        return state.withLock { state in
            state.isWanted = false
            return state.outcome
        }
    }
}
