import EideticCore
import EideticTransfer

/// The commands whose files are being copied: on one thread for each application, so that a file system that hangs
/// holds up the uploads of one application only.
///
/// It is used on the engine's thread.
final class UploadCopies {
    typealias Handler = ([UploadCopy], EideticError?) -> Void

    private let files: FileSystem
    private let inbox: TransferInbox
    private var workers: [Int: (worker: SyncWorker, pendingCount: Int)] = [:]
    private var pending: [UInt64: (application: TransferApplication, completion: Handler)] = [:]
    private var lastNumber: UInt64 = 0

    init(files: FileSystem, inbox: TransferInbox) {
        self.files = files
        self.inbox = inbox
    }

    var isEmpty: Bool { pending.isEmpty }

    /// Copies files, and calls a function with the copies, or the error: `limitExceeded` if too much is under way.
    func copy(_ uploads: [UploadFile], of application: TransferApplication, limit: Int, then body: @escaping Handler) {
        lastNumber += 1
        let files = files
        let number = lastNumber
        let directory = "\(application.directory)/uploads"
        do throws(EideticError) {
            let worker = try worker(for: application)
            pending[number] = (application, body)
            worker.add(
                .work { [inbox] in
                    var copies: [UploadCopy] = []
                    var failure: EideticError?
                    for (index, file) in uploads.enumerated() where failure == nil {
                        do throws(EideticError) {
                            let path = "\(directory)/copy-\(number)-\(index)"
                            let used = copies.reduce(0) { $0 + $1.length }
                            copies.append(try file.copy(to: path, with: files, limit: limit - used))
                        } catch {
                            failure = error
                        }
                    }
                    let result = copies
                    let error = failure
                    let isPosted = inbox.post { $0.copies.finish(number, with: result, failure: error, for: $0) }
                    if !isPosted { for copy in result { files.removeIfPresent(copy.path) } }
                }
            )
        } catch {
            body([], error)
        }
    }

    private func finish(
        _ number: UInt64,
        with copies: [UploadCopy],
        failure: EideticError?,
        for engine: TransferEngine
    ) {
        guard let (application, completion) = pending.removeValue(forKey: number) else { return }
        releaseWorker(of: application)
        // Other files may have come since the copy was begun.
        let isTooMuch = copies.reduce(0) { $0 + $1.length } > engine.space.room(besides: application.diskBytes)
        let error = failure ?? (isTooMuch ? engine.space.excess(of: application.name) : nil)
        if error != nil { for copy in copies { files.removeIfPresent(copy.path) } }
        completion(error == nil ? copies : [], error)
    }

    /// Ends the additions whose files are being copied, because the engine stops; their clients add them again.
    func stop() {
        let ended = pending.values
        pending = [:]
        for entry in ended { entry.completion([], TransferEngine.stopping) }
        for entry in workers.values { entry.worker.stop() }
        workers = [:]
    }

    // MARK: Threads

    /// Returns the thread of an application for further work.
    private func worker(for application: TransferApplication) throws(EideticError) -> SyncWorker {
        let (existing, pendingCount) = workers[application.index].map { ($0.worker, $0.pendingCount) } ?? (nil, 0)
        guard pendingCount < TransferLimits.copiesPerApplication else {
            throw Self.excess("\(pendingCount) additions of \(application.name) are being copied already")
        }
        guard existing != nil || workers.count < TransferLimits.copyingApplications else {
            throw Self.excess("files of \(workers.count) applications are being copied already")
        }
        let worker = existing ?? SyncWorker(name: "transfer-copy", fileSystem: files)
        workers[application.index] = (worker, pendingCount + 1)
        return worker
    }

    /// Records that work of an application is done; its thread ends with the last.
    private func releaseWorker(of application: TransferApplication) {
        guard let entry = workers[application.index] else { return }
        workers[application.index] = entry.pendingCount > 1 ? (entry.worker, entry.pendingCount - 1) : nil
        if entry.pendingCount == 1 { entry.worker.stop() }
    }

    private static func excess(_ fact: String) -> EideticError {
        EideticError(.limitExceeded, message: "\(fact); if this does not end, their file system does not respond")
    }
}
