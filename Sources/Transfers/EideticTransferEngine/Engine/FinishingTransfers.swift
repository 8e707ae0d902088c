import EideticCore
import EideticTransfer
import Glibc

/// The transfers whose bodies are complete and are being made safe, or whose ends could not be recorded yet.
///
/// It is used on the engine's thread.
final class FinishingTransfers {
    struct End {
        let number: UInt64
        let outcome: TransferEvent.Outcome
        var body: [UInt8]?
        var diskBytes = 0
    }

    /// The number of complete bodies that are made safe at a time: no transfer starts while more wait for the disk.
    private static let limit = 64
    /// The pause before an end is recorded again.
    private static let pause: Duration = .seconds(1)

    private let files: FileSystem
    private let inbox: TransferInbox
    private let syncWorker: SyncWorker
    /// Writes small bodies to their files, also while the journal is synchronised.
    private let fileWorker: SyncWorker
    private var numbers: Set<UInt64> = []
    /// The ends that could not be recorded, and the uptime at which that is attempted again.
    private var unrecorded: [End] = []
    private var notBefore: Duration = .zero

    init(files: FileSystem, inbox: TransferInbox, syncWorker: SyncWorker) {
        self.files = files
        self.inbox = inbox
        self.syncWorker = syncWorker
        fileWorker = SyncWorker(name: "transfer-files", fileSystem: files)
    }

    var isEmpty: Bool { numbers.isEmpty }
    var isFull: Bool { numbers.count >= Self.limit }
    /// A Boolean value indicating whether an end could not be recorded.
    var hasUnrecordedEnds: Bool { !unrecorded.isEmpty }

    func contains(_ number: UInt64) -> Bool { numbers.contains(number) }

    func remove(_ number: UInt64) { numbers.remove(number) }

    func stop() { fileWorker.stop() }

    /// Makes a part file safe and moves it to the outbox, or writes a small body there.
    ///
    /// The journal has the bytes of a small body, so its file need not be synchronised; and the network does not wait
    /// for the file system, which takes longest for the creation of a file.
    func add(_ number: UInt64, body sink: BodySink, response: TransferEvent.Response) {
        numbers.insert(number)
        let files = files
        let inbox = inbox
        let target = response.path
        guard let file = sink.file else {
            let body = sink.buffer
            return fileWorker.add(
                .work {
                    let error = Self.write(body, to: target, with: files)
                    inbox.post { $0.didHandOver(number, with: response, body: body, after: error) }
                }
            )
        }
        let source = sink.path
        syncWorker.add(
            .work {
                let error = Self.handOver(file, from: source, to: target, with: files)
                inbox.post { $0.didHandOver(number, with: response, after: error) }
            }
        )
    }

    private static func handOver(
        _ file: BodySink.File,
        from source: String,
        to target: String,
        with files: FileSystem
    ) -> SystemError? {
        do throws(SystemError) {
            try files.synchronizeData(file.descriptor)
            try files.rename(source, to: target)
            try files.synchronizeDirectory(of: target)
            return nil
        } catch {
            return error
        }
    }

    private static func write(_ body: [UInt8], to path: String, with files: FileSystem) -> SystemError? {
        do throws(SystemError) {
            let file = try files.open(path, flags: O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600)
            try files.write(body, to: file, at: 0)
            return nil
        } catch {
            return error
        }
    }

    // MARK: Ends

    /// Keeps an end that the journal could not take.
    func keep(_ end: End, at now: Duration) {
        numbers.insert(end.number)
        unrecorded.append(end)
        notBefore = now + Self.pause
    }

    /// Takes the ends that are to be recorded again; none before their time.
    func takeUnrecorded(at now: Duration) -> [End] {
        guard !unrecorded.isEmpty, now >= notBefore else { return [] }
        defer { unrecorded = [] }
        for end in unrecorded { numbers.remove(end.number) }
        return unrecorded
    }
}
