import EideticFetch
import EideticStore
import Synchronization

/// A plan of what is stored of the bytes of a load, on disk and in the shared tier.
///
/// Only bytes that have proved to be an image are stored: the job commits the plan when a decoder, or the reader of its
/// header, has accepted them. Whatever other jobs have the same bytes, the plan is carried out once.
final class StoragePlan: Sendable {
    /// A change of the disk cache.
    enum DiskChange: Sendable {
        /// Stores the bytes under a key.
        case insert(key: String, Retention)
        /// Removes the entry of bytes which were replaced by ones that must not be stored.
        case remove(key: String)
    }

    /// A function that makes the placeholder that is stored with the bytes; `nil` if there is none.
    typealias PlaceholderMaker = @Sendable () async -> ImagePlaceholder?

    /// The bytes, without their plan.
    private let content: EncodedImage
    /// The changes of the disk, in their order; none if it is up to date.
    private let changes: [DiskChange]
    private let stage: DiskStage?
    /// The bytes as the new ones of their resource; `nil` if they are not new.
    private let replacement: RenditionIndex.Replacement?
    /// The entry of the shared tier; `nil` if the bytes are not for other machines.
    private let publication: SharedPublication?
    /// The lease under which the bytes were loaded; `nil` without one.
    let lease: HeldLease?
    /// The share of the bytes in the limit of all bodies in memory, released when they have been decoded and stored.
    private let share: BodyShare?

    private let validation = Atomic(false)
    /// The outcome of the write: the error, `nil` if the bytes were stored.
    private let outcome = Promise<EideticError?>()
    private let publicationEnd = Promise<Void>()

    init(
        for content: EncodedImage,
        changes: [DiskChange] = [],
        on stage: DiskStage? = nil,
        replacement: RenditionIndex.Replacement? = nil,
        publication: SharedPublication? = nil,
        lease: HeldLease? = nil,
        share: BodyShare? = nil
    ) {
        self.content = content.detached
        self.changes = changes
        self.stage = stage
        self.replacement = replacement
        self.publication = publication
        self.lease = lease
        self.share = share
    }

    var image: EncodedImage {
        var image = content
        image.storage = self
        return image
    }

    /// A Boolean value indicating whether the bytes may be stored on disk, and not only older ones removed.
    var isStorable: Bool { changes.contains { if case .insert = $0 { true } else { false } } }

    var isCommitted: Bool { validation.load(ordering: .acquiring) }

    var hasStarted: Bool { isStorable && isCommitted }

    /// The write of the bytes to disk, if it has started.
    var activeWrite: Promise<EideticError?>? { hasStarted ? outcome : nil }

    var isActive: Bool { hasStarted && outcome.result == nil }

    /// A Boolean value indicating whether the bytes were written; a task may hold them for a moment longer.
    var isStored: Bool { if case .success(.none) = outcome.result { true } else { false } }

    /// Begins to carry out the plan, once; the bytes must have proved to be an image.
    ///
    /// - Parameters:
    ///   - isDecoded: A Boolean value indicating whether they were decoded, and not only their header was read: only
    ///     then other machines receive them.
    ///   - makePlaceholder: Makes the placeholder that is stored with them; called once, while they are written.
    func commit(isDecoded: Bool, makePlaceholder: @escaping PlaceholderMaker = { nil }) {
        guard !validation.exchange(true, ordering: .acquiringAndReleasing) else { return }
        replacement?.record(isRepeated: false)
        publish(isDecoded: isDecoded)
        guard let stage, let disk = stage.disk, !changes.isEmpty else { return }
        // It covers the write from now on; without background time left nothing is stored.
        let work = Result { () throws(EideticError) in isStorable ? try disk.work.begin() : nil }
        // It is called once, and releases the image then, so that the write does not keep it in memory.
        let maker = Guarded<PlaceholderMaker?>(makePlaceholder)
        // The task holds the plan, so that loads that start meanwhile find the bytes here and need no network.
        let store: @Sendable () async -> Void = { [self] in
            var failure: EideticError?
            do throws(EideticError) {
                let work = try work.get()
                for change in changes {
                    switch change {
                    case .insert(let key, var retention):
                        guard let work else { continue }
                        retention.record.imagePlaceholder = await maker.withLock { $0.take() }?()
                        try await stage.insert(content, for: key, retention: retention, within: work)
                    case .remove(let key): try await stage.remove(key)
                    }
                }
            } catch {
                Log.write(.warning, category: .store, message: "not stored: \(error)")
                failure = error
            }
            // Until now the disk had the previous bytes, and other loads may have decoded those.
            replacement?.record(isRepeated: true)
            share?.release()
            outcome.fulfil(.success(failure))
        }
        if let executor = BlockingExecutor.current {
            // Such a thread does the work of files itself.
            Task.immediateDetached(executorPreference: executor, operation: store)
        } else {
            Task.detached(operation: store)
        }
    }

    private func publish(isDecoded: Bool) {
        guard isDecoded, let publication else {
            lease?.end(with: .waived(SharedStage.unsharedInterval))
            publicationEnd.fulfil(.success(()))
            return
        }
        // From now on it is covered, too.
        let work = try? publication.stage.work.begin()
        Task.detached { [publicationEnd, lease] in
            await publication.perform(within: work, endingLease: lease)
            publicationEnd.fulfil(.success(()))
        }
    }

    /// Releases the share of the bytes after they were decoded, or when they have been stored.
    func releaseShare() { if !isActive { share?.release() } }

    /// Waits until the bytes are stored, on disk and in the shared tier.
    ///
    /// - Returns: The error if they could not be stored on disk; otherwise, `nil`.
    /// - Throws: `cancelled` as soon as the task is cancelled.
    nonisolated(nonsending) func waitUntilStored() async throws(EideticError) -> EideticError? {
        let failure = !changes.isEmpty && isCommitted ? try await outcome.value() : nil
        if publication != nil, isCommitted { try await publicationEnd.value() }
        return failure
    }
}

/// The encoded images that loads hold, or that are being written to disk, by data key.
///
/// A load that starts before the bytes are on disk finds them here, and needs no network. From then on the disk cache
/// responds instead, because it also limits the time for which the bytes are fresh.
final class ActiveImages: Sendable {
    private struct WeakPlan { weak var value: StoragePlan? }

    private let plans = Guarded<[ImageRequest.DataKey: WeakPlan]>([:])

    var storingCount: Int { plans.withLock { $0.values.count { $0.value?.isActive == true } } }

    /// The image for `key`, unless it is on disk.
    subscript(key: ImageRequest.DataKey) -> EncodedImage? {
        let plan = plans.withLock { $0[key]?.value }
        return plan?.isStored == true ? nil : plan?.image
    }

    /// Inserts an image; every 256th time those that were released are removed.
    func insert(_ plan: StoragePlan, for key: ImageRequest.DataKey) {
        plans.withLock { plans in
            plans[key] = WeakPlan(value: plan)
            if plans.count.isMultiple(of: 256) { plans = plans.filter { $0.value.value != nil } }
        }
    }

    /// Removes an image, unless another one has taken its place.
    func remove(_ image: EncodedImage, for key: ImageRequest.DataKey) {
        guard let plan = image.storage else { return }
        plans.withLock { plans in
            if plans[key]?.value === plan { plans[key] = nil }
        }
    }
}
