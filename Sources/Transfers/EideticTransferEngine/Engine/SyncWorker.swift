import EideticCore

/// A thread that makes files safe on the device, so that the network does not wait for it.
///
/// Requests that are queued while it works are done together: the work on files first, then one synchronisation of the
/// journal.
final class SyncWorker: Sendable {
    /// A piece of work; its completion is called on the worker's thread.
    enum Job: Sendable {
        case work(@Sendable () -> Void)
        case journal(Journal.File, completion: @Sendable (SystemError?) -> Void)
    }

    private struct State {
        var jobs: [Job] = []
        var isStopped = false
    }

    private let monitor = Monitor(State())

    init(name: String, fileSystem: FileSystem) {
        let monitor = monitor
        Thread.start(name: name) {
            while true {
                let jobs = monitor.wait { state -> [Job]? in
                    if state.jobs.isEmpty { return state.isStopped ? [] : nil }
                    defer { state.jobs = [] }
                    return state.jobs
                }
                if jobs.isEmpty { return }
                Self.perform(jobs, with: fileSystem)
            }
        }
    }

    deinit { stop() }

    func add(_ job: Job) {
        monitor.withLock { $0.jobs.append(job) }
        monitor.signal()
    }

    /// Ends the thread after the jobs that are queued.
    func stop() {
        monitor.withLock { $0.isStopped = true }
        monitor.signal()
    }

    private static func perform(_ jobs: [Job], with fileSystem: FileSystem) {
        for case .work(let work) in jobs { work() }
        var outcomes: [ObjectIdentifier: SystemError?] = [:]
        for case .journal(let file, let completion) in jobs {
            let outcome = outcomes[ObjectIdentifier(file)] ?? synchronize(file, with: fileSystem)
            outcomes[ObjectIdentifier(file)] = .some(outcome)
            completion(outcome)
        }
    }

    private static func synchronize(_ file: Journal.File, with fileSystem: FileSystem) -> SystemError? {
        do throws(SystemError) {
            try fileSystem.synchronizeData(file.descriptor)
            return nil
        } catch {
            return error
        }
    }
}
