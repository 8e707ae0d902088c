import EideticCore
import EideticTransfer

/// The commands whose files are being copied, each on the thread of its application.
///
/// It is used on the engine's thread.
final class UploadCopies {
    typealias Handler = ([UploadCopy], EideticError?) -> Void

    private let files: FileSystem
    private let inbox: EngineInbox
    private let workers: CopyWorkers
    private var pending: [UInt64: (application: TransferApplication, completion: Handler)] = [:]
    private var lastNumber: UInt64 = 0

    init(files: FileSystem, inbox: EngineInbox) {
        self.files = files
        self.inbox = inbox
        workers = CopyWorkers(fileSystem: files)
    }

    var isEmpty: Bool { pending.isEmpty }

    /// Copies files, and calls a function with the copies, or the error.
    ///
    /// - Parameters:
    ///   - uploads: The files.
    ///   - application: The application.
    ///   - limit: The bytes that the copies may have.
    ///   - body: The function.
    func copy(
        _ uploads: [UploadFile],
        of application: TransferApplication,
        limit: Int,
        then body: @escaping Handler
    ) {
        lastNumber += 1
        let (files, number, directory) = (files, lastNumber, "\(application.directory)/uploads")
        do throws(EideticError) {
            try workers.add(for: application) { [inbox] in
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
                let (result, error) = (copies, failure)
                let isPosted = inbox.post { $0.copies.finish(number, with: result, failure: error, for: $0) }
                if !isPosted { for copy in result { files.removeIfPresent(copy.path) } }
            }
            pending[number] = (application, body)
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
        workers.finish(of: application)
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
        workers.stop()
    }
}
