import EideticCodecs
import EideticCore
import EideticFetch
import EideticStore
import Synchronization

/// The write of an encoded image to disk.
///
/// Only bytes that have proved to be an image are stored: the write starts when a decoder, or the reader of its header,
/// has accepted them.
extension EncodedImage {
    /// A Boolean value indicating whether the bytes have proved to be an image.
    var isValidated: Bool { validation.load(ordering: .acquiring) }

    /// A Boolean value indicating whether the bytes may be stored on disk.
    var isStorable: Bool { writer != nil && isWritten }

    /// A Boolean value indicating whether the write has started, whatever its outcome.
    var hasStartedStoring: Bool { isStorable && isValidated }

    /// The write of the bytes to disk, if it has started.
    var activeWrite: Promise<EideticError?>? { hasStartedStoring ? storage : nil }

    /// A Boolean value indicating whether the bytes are being written.
    var isStoring: Bool { hasStartedStoring && storage.result == nil }

    /// A Boolean value indicating whether the bytes were written; a task may hold them for a moment longer.
    var isStored: Bool { if case .success(.none) = storage.result { true } else { false } }

    /// Starts to store the bytes, once.
    ///
    /// It must be called only when they have proved to be an image.
    ///
    /// - Parameters:
    ///   - isDecoded: A Boolean value indicating whether they were decoded, and not only their header was read: only
    ///     then other machines receive them.
    ///   - makePlaceholder: Makes the placeholder that is stored with them; called once, while they are written.
    func storeOnce(isDecoded: Bool, makePlaceholder: @escaping PlaceholderMaker = { nil }) {
        guard !validation.exchange(true, ordering: .acquiringAndReleasing) else { return }
        reportReplacement(isRepeated: false)
        publish(isDecoded: isDecoded)
        let maker = PlaceholderSource(makePlaceholder)
        guard let write = writer?({ await maker.make() }) else { return }
        // The task holds the bytes, so that loads that start meanwhile find them here and need no network.
        Task.detached { [self] in
            var failure: EideticError?
            do throws(EideticError) { try await write() } catch {
                Log.write(.warning, category: .store, message: "not stored: \(error)")
                failure = error
            }
            // Until now the disk had the previous bytes, and other loads may have decoded those.
            reportReplacement(isRepeated: true)
            share?.release()
            storage.fulfil(.success(failure))
        }
    }

    private func publish(isDecoded: Bool) {
        guard isDecoded, let complete = publisher?() else {
            lease?.end(with: .waived(SharedStage.unsharedInterval))
            publication.fulfil(.success(()))
            return
        }
        Task.detached { [publication] in
            await complete()
            publication.fulfil(.success(()))
        }
    }

    /// Releases the share of the bytes after they were decoded, or when they have been stored.
    func releaseShare() { if !isStoring { share?.release() } }

    /// Waits until the bytes are stored, on disk and in the shared tier.
    ///
    /// - Returns: The error if they could not be stored on disk; otherwise, `nil`.
    /// - Throws: `cancelled` as soon as the task is cancelled.
    func waitForStorage() async throws(EideticError) -> EideticError? {
        let failure = writer != nil && isValidated ? try await storage.value() : nil
        if publisher != nil, isValidated { try await publication.value() }
        return failure
    }
}

/// A function that makes a placeholder of an image, and releases the image with it, so that the write does not keep it
/// in memory.
private final class PlaceholderSource: Sendable {
    private let function: Guarded<EncodedImage.PlaceholderMaker?>

    init(_ function: @escaping EncodedImage.PlaceholderMaker) { self.function = Guarded(function) }

    func make() async -> ImagePlaceholder? {
        let function = function.withLock { function in
            defer { function = nil }
            return function
        }
        return await function?()
    }
}
