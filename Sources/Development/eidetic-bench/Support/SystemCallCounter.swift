import EideticCore

/// An observer that counts system calls.
final class SystemCallCounter: SystemCallObserver {
    private let state = Guarded((all: 0, scans: 0))

    var count: Int { state.withLock { $0.all } }
    var directoryReads: Int { state.withLock { $0.scans } }

    func willPerform(_ call: SystemCall, path: String?) -> Int32? {
        state.withLock { state in
            state.all += 1
            if call == .readdir { state.scans += 1 }
        }
        return nil
    }
}
