import EideticCore
import EideticTransfer

/// The threads that copy the files of uploads: one for each application, so that a file system that hangs holds up the
/// uploads of one application only.
///
/// It is used on the engine's thread.
final class CopyWorkers {
    private var workers: [Int: (worker: SyncWorker, pendingCount: Int)] = [:]
    private let fileSystem: FileSystem

    init(fileSystem: FileSystem) { self.fileSystem = fileSystem }

    /// Performs work on the thread of an application; ``finish(of:)`` is called when it is done.
    ///
    /// - Throws: `limitExceeded` if too much work is under way.
    func add(for application: TransferApplication, work: @escaping @Sendable () -> Void) throws(EideticError) {
        let (existing, pendingCount) = workers[application.index].map { ($0.worker, $0.pendingCount) } ?? (nil, 0)
        guard pendingCount < TransferLimits.copiesPerApplication else {
            throw Self.excess("\(pendingCount) additions of \(application.name) are being copied already")
        }
        guard existing != nil || workers.count < TransferLimits.copyingApplications else {
            throw Self.excess("files of \(workers.count) applications are being copied already")
        }
        let worker = existing ?? SyncWorker(name: "transfer-copy", fileSystem: fileSystem)
        workers[application.index] = (worker, pendingCount + 1)
        worker.add(.work(work))
    }

    /// Records that work of an application is done; its thread ends with the last.
    func finish(of application: TransferApplication) {
        guard let entry = workers[application.index] else { return }
        workers[application.index] = entry.pendingCount > 1 ? (entry.worker, entry.pendingCount - 1) : nil
        if entry.pendingCount == 1 { entry.worker.stop() }
    }

    /// Ends the threads after their work.
    func stop() {
        for entry in workers.values { entry.worker.stop() }
        workers = [:]
    }

    private static func excess(_ fact: String) -> EideticError {
        EideticError(.limitExceeded, message: "\(fact); if this does not end, their file system does not respond")
    }
}
