import EideticCore

/// The write of an encoded image to disk.
///
/// Only bytes that have proved to be an image are stored: the write starts when a decoder, or the reader of its header,
/// has accepted them.
extension EncodedImage {
    /// The progress of the write, and the tasks that wait for its end.
    struct StorageState {
        typealias Continuation = CheckedContinuation<Result<EideticError?, EideticError>, Never>

        var isValidated = false
        /// The outcome of the write, `nil` until it ends; within it the error, `nil` if the bytes were stored.
        var outcome: EideticError??
        var waiters: [UInt64: Continuation] = [:]
        var lastTicket: UInt64 = 0

        var isStored: Bool { if case .some(.none) = outcome { true } else { false } }

        /// Records that the bytes are an image.
        ///
        /// - Returns: `true` at the first call; otherwise, `false`.
        mutating func validate() -> Bool {
            defer { isValidated = true }
            return !isValidated
        }

        /// Records the end of the write.
        ///
        /// - Returns: The tasks to be resumed.
        mutating func finish(with error: EideticError?) -> [Continuation] {
            outcome = .some(error)
            defer { waiters = [:] }
            return Array(waiters.values)
        }

        mutating func issueTicket() -> UInt64 {
            lastTicket += 1
            return lastTicket
        }
    }

    /// A Boolean value indicating whether the bytes have proved to be an image.
    var isValidated: Bool { storage.withLock { $0.isValidated } }

    /// A Boolean value indicating whether the bytes may be stored on disk.
    var isStorable: Bool { writer != nil && isWritten }

    /// A Boolean value indicating whether the write has started, whatever its outcome.
    var hasStartedStoring: Bool { isStorable && isValidated }

    /// A Boolean value indicating whether the bytes are being written.
    var isStoring: Bool { isStorable && storage.withLock { $0.isValidated && $0.outcome == nil } }

    /// A Boolean value indicating whether the bytes were written; a task may hold them for a moment longer.
    var isStored: Bool { storage.withLock { $0.isStored } }

    /// Starts to store the bytes, once.
    ///
    /// It must be called only when they have proved to be an image.
    func storeOnce() {
        guard storage.withLock({ $0.validate() }) else { return }
        reportReplacement(isRepeated: false)
        guard let write = writer?() else { return }
        // The task holds the bytes, so that loads that start meanwhile find them here and need no network.
        Task.detached { [self] in
            var failure: EideticError?
            do throws(EideticError) { try await write() } catch {
                Log.write(.warning, category: .store, message: "not stored: \(error)")
                failure = error
            }
            // Until now the disk had the previous bytes, and other loads may have decoded those.
            reportReplacement(isRepeated: true)
            let waiters = storage.withLock { $0.finish(with: failure) }
            share?.release()
            for waiter in waiters { waiter.resume(returning: .success(failure)) }
        }
    }

    /// Releases the share of the bytes after they were decoded, or when they have been stored.
    func releaseShare() { if !isStoring { share?.release() } }

    /// Waits until the bytes are stored.
    ///
    /// - Returns: The error if they could not be stored; otherwise, `nil`.
    /// - Throws: `cancelled` as soon as the task is cancelled.
    func waitForStorage() async throws(EideticError) -> EideticError? {
        guard writer != nil else { return nil }
        let ticket = storage.withLock { $0.issueTicket() }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                suspend(continuation, ticket: ticket)
                // A cancellation before the ticket was in the table has resumed nothing.
                if Task.isCancelled { cancelWait(ticket: ticket) }
            }
        } onCancel: {
            cancelWait(ticket: ticket)
        }
        return try result.get()
    }

    private func suspend(_ continuation: StorageState.Continuation, ticket: UInt64) {
        let outcome = storage.withLock { storage -> EideticError?? in
            guard storage.isValidated else { return .some(nil) }
            if storage.outcome == nil { storage.waiters[ticket] = continuation }
            return storage.outcome
        }
        if let outcome { continuation.resume(returning: .success(outcome)) }
    }

    private func cancelWait(ticket: UInt64) {
        let waiter = storage.withLock { $0.waiters.removeValue(forKey: ticket) }
        waiter?.resume(returning: .failure(.cancelled))
    }
}
