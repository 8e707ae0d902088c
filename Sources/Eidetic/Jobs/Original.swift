import EideticCore
import EideticFetch

/// The encoded bytes of a picture, on their way from where they came from to the disk.
final class EncodedImage: Sendable {
    /// Told the checksum of new bytes, and whether it was told of them before.
    typealias Announcement = @Sendable (_ checksum: UInt64, _ isAgain: Bool) -> Void

    let bytes: [UInt8]
    /// By which the bytes are told from others.
    let checksum: UInt64
    let source: ImageSource
    let steps: [LoadTrace.Step]
    /// How long the server's answer is fresh; `nil` where its server is not asked.
    let freshFor: Duration?
    /// Whether the server is to be asked while the picture is shown.
    let needsRevalidation: Bool
    /// The server that sent the bytes, as the request names it.
    let remote: FetchRequest?
    private let store: (@Sendable () async throws(EideticError) -> Void)?
    private let announce: Announcement?
    private let writing = Guarded(Writing())

    fileprivate struct Writing {
        var hasBegun = false
        /// How it ended; within, the error.
        var outcome: EideticError??
        var waiting: [UInt64: CheckedContinuation<Result<EideticError?, EideticError>, Never>] = [:]
        var lastWaiter: UInt64 = 0
    }

    /// Whether the bytes are those of the disk cache, so that where the picture comes from may have better ones.
    var isFromDisk: Bool { source == .disk && steps.last?.stage != .origin }

    /// Whether the bytes were written; a task may hold them for a moment longer.
    var isStored: Bool { writing.withLock { $0.isDone } }

    /// Whether the bytes are or were being written, with whatever outcome.
    var hasBegunStoring: Bool { store != nil && isPicture }

    /// Whether the bytes are being written.
    var isBeingStored: Bool { store != nil && writing.withLock { $0.hasBegun && $0.outcome == nil } }

    /// Whether the bytes have proved to be a picture.
    var isPicture: Bool { writing.withLock { $0.hasBegun } }

    /// Whether they are written to disk, now or before long.
    var belongsOnDisk: Bool { store != nil }

    /// - Parameters:
    ///   - bytes: The encoded picture.
    ///   - source: Where they come from.
    ///   - steps: How they came.
    ///   - freshFor: How long they are fresh; `nil` where their server is not asked.
    ///   - needsRevalidation: Whether the server is to be asked while the picture is shown.
    ///   - remote: The server that sent them.
    ///   - announce: Called when the bytes, which are new, have proved to be a picture, and again when the disk has them.
    ///   - store: Writes the bytes to disk; `nil` where they are there already or do not belong there.
    init(
        bytes: [UInt8],
        source: ImageSource,
        steps: [LoadTrace.Step],
        freshFor: Duration? = nil,
        needsRevalidation: Bool = false,
        remote: FetchRequest? = nil,
        announce: Announcement? = nil,
        store: (@Sendable () async throws(EideticError) -> Void)? = nil
    ) {
        self.bytes = bytes
        checksum = bytes.withUnsafeBytes { Checksum.value(of: $0) }
        self.source = source
        self.steps = steps
        self.freshFor = freshFor
        self.needsRevalidation = needsRevalidation
        self.remote = remote
        self.announce = announce
        self.store = store
    }

    /// The same bytes, which no cache finds by this.
    var copy: EncodedImage { EncodedImage(bytes: bytes, source: source, steps: steps, freshFor: freshFor) }

    /// Starts to store the bytes, once, however many ask; called when they have proved to be a picture.
    func storeOnce() {
        guard writing.withLock({ $0.begin() }) else { return }
        announce?(checksum, false)
        guard let store else { return }
        // The task keeps the bytes, so that who asks meanwhile finds them here and not on the network again.
        Task.detached { [self] in
            var failure: EideticError?
            do throws(EideticError) { try await store() } catch {
                Log.write(.warning, category: .store, message: "not stored: \(error)")
                failure = error
            }
            // Until now the disk had what was there before, of which more may have been made.
            announce?(checksum, true)
            let waiting = writing.withLock { $0.end(failure) }
            for waiter in waiting { waiter.resume(returning: .success(failure)) }
        }
    }

    /// Waits until the bytes are stored, and gives the error where they could not be; throws `cancelled` at once where
    /// the task is.
    func storeError() async throws(EideticError) -> EideticError? {
        guard store != nil else { return nil }
        let ticket = writing.withLock { writing in
            writing.lastWaiter += 1
            return writing.lastWaiter
        }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let outcome = writing.withLock { writing -> EideticError?? in
                    if !writing.hasBegun { return .some(nil) }
                    if writing.outcome == nil { writing.waiting[ticket] = continuation }
                    return writing.outcome
                }
                if let outcome { continuation.resume(returning: .success(outcome)) }
                // A cancellation that came before the ticket was there found nobody to answer.
                if Task.isCancelled { giveUp(ticket) }
            }
        } onCancel: {
            giveUp(ticket)
        }
        return try result.get()
    }

    private func giveUp(_ ticket: UInt64) {
        let waiter = writing.withLock { $0.waiting.removeValue(forKey: ticket) }
        waiter?.resume(returning: .failure(.cancelled))
    }
}

extension EncodedImage.Writing {
    fileprivate var isDone: Bool { if case .some(.none) = outcome { true } else { false } }

    fileprivate mutating func begin() -> Bool {
        defer { hasBegun = true }
        return !hasBegun
    }

    fileprivate mutating func end(
        _ failure: EideticError?
    ) -> [CheckedContinuation<Result<EideticError?, EideticError>, Never>] {
        outcome = .some(failure)
        defer { waiting = [:] }
        return Array(waiting.values)
    }
}
