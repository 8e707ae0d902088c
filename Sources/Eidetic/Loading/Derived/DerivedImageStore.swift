import EideticCodecs
import EideticCore
import EideticHTTP
import EideticStore

/// The images of other sizes, and the transformed ones, on disk: finds them, and writes them one after the other at low
/// priority.
final class DerivedImageStore: Sendable {
    /// An image that waits for its write.
    private struct Pending: Sendable {
        let key: String
        /// The key of the bytes.
        let original: String
        let imageKey: CacheKey
        let record: DerivedImageRecord
        /// The processor time that making it took.
        let makingTime: Duration
        /// The image; `nil` if those that wait hold enough memory, so that the memory cache must still have it.
        let image: Image?
        /// The write of the bytes, which the image replaces; `nil` if it does not.
        let originalWrite: Promise<EideticError?>?
        let work: BackgroundWork
    }

    private struct Refusal: Hashable {
        let key: String
        let checksum: UInt64
    }

    private struct State {
        var queue: [Pending] = []
        /// The keys of all images that wait or are being written.
        var keys: Set<String> = []
        /// The images that proved not to pay, by their names and the bytes that they were made from.
        var refused: Set<Refusal> = []
        var heldBytes = 0
        var isDraining = false
        var waiters: [Waiter<Void>] = []
    }

    let settings: ImagePipeline.Configuration.DerivedImages
    let disk: DiskCache?
    private let mayWrite: Bool
    private let stage: DecodeStage
    private let memory: ImageMemoryCache
    private let state = Guarded(State())

    /// The memory of the images that wait outside of the memory cache.
    private static let heldLimit = 32 << 20
    private static let refusalLimit = 4_096

    init(
        settings: ImagePipeline.Configuration.DerivedImages,
        disk: DiskCache?,
        mayWrite: Bool,
        stage: DecodeStage,
        memory: ImageMemoryCache
    ) {
        self.settings = settings
        self.disk = settings.policy == .originals ? nil : disk
        self.mayWrite = mayWrite && disk?.configuration.isReadOnly == false
        (self.stage, self.memory) = (stage, memory)
    }

    /// The number of images that wait or are being written.
    var pendingCount: Int { state.withLock { $0.keys.count } }

    /// Waits until all images that were queued are on disk, or are not kept; returns early if the task is cancelled.
    func finish() async {
        let waiter = Waiter<Void>()
        let isIdle = state.withLock { state in
            if !state.keys.isEmpty { state.waiters.append(waiter) }
            return state.keys.isEmpty
        }
        if !isIdle { await waiter.value(ifCancelled: ()) }
    }

    /// Queues an image that was made for a load, if it is one that the disk keeps; returns at once.
    ///
    /// - Parameters:
    ///   - rendition: The image, and the processor time in which it was made.
    ///   - encodedImage: The bytes that it was made from.
    ///   - load: The load.
    func store(_ rendition: DecodeStage.Rendition, of encodedImage: EncodedImage, for load: Load) {
        let image = rendition.image
        guard let disk, mayWrite, encodedImage.mayBeDerivedFrom, encodedImage.timeToLive != .zero,
            load.policy.writesToDisk, !CacheControl(load.policy.cacheFields).noStore,
            load.policy.access.contains(.writeDerived),
            load.request.isDerived, !image.isAnimated, !image.isPartial,
            image.size != image.sourceSize || load.request.rendering.transform != nil, isWorthwhile(rendition),
            let record = DerivedImageRecord(image, isStill: isStill(encodedImage, as: rendition, for: load))
        else { return }
        let key = load.request.derivedKey, refusal = Refusal(key: key, checksum: record.provenance.checksum)
        guard state.withLock({ !$0.refused.contains(refusal) && $0.keys.insert(key).inserted }) else { return }
        guard let work = try? disk.beginWork() else { return forget(key, heldBytes: 0) }
        let startsDraining = state.withLock { state in
            let isHeld = state.heldBytes + image.cost.bytes <= Self.heldLimit
            if isHeld { state.heldBytes += image.cost.bytes }
            let pending = Pending(
                key: key,
                original: load.request.resourceKey,
                imageKey: load.request.imageKey,
                record: record,
                makingTime: rendition.makingTime,
                image: isHeld ? image : nil,
                originalWrite: settings.policy == .derived ? encodedImage.activeWrite : nil,
                work: work
            )
            state.queue.append(pending)
            defer { state.isDraining = true }
            return !state.isDraining
        }
        if startsDraining { Task.detached(priority: .background) { await self.drain() } }
    }

    /// Returns whether bytes, of which one frame was decoded, have no other.
    private func isStill(
        _ encodedImage: EncodedImage,
        as rendition: DecodeStage.Rendition,
        for load: Load
    ) -> Bool {
        guard !load.request.options.needsAllFrames else { return true }
        // An image that was decoded in the sandbox is not parsed here.
        let frameCount = rendition.frameCount ?? (try? ImageDecoder.header(of: encodedImage.bytes))?.frameCount
        return frameCount == 1
    }

    /// Returns whether an image may be kept, before it is encoded: the fastest decoder needs 4 ns for a pixel.
    private func isWorthwhile(_ rendition: DecodeStage.Rendition) -> Bool {
        let image = rendition.image
        let leastReadingTime = Duration.nanoseconds(min(image.size.pixelCount, 1 << 40) * 4)
        return settings.policy != .automatic || rendition.makingTime > leastReadingTime * 4
    }

    private func forget(_ key: String, heldBytes: Int) {
        let waiters = state.withLock { state -> [Waiter<Void>] in
            state.keys.remove(key)
            state.heldBytes -= heldBytes
            guard state.keys.isEmpty else { return [] }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume(returning: ()) }
    }
}

// MARK: Writing
extension DerivedImageStore {
    private func drain() async {
        while let next = state.withLock({ state -> Pending? in
            state.isDraining = !state.queue.isEmpty
            return state.queue.isEmpty ? nil : state.queue.removeFirst()
        }) {
            do throws(EideticError) { try await write(next) } catch {
                Log.write(.debug, category: .store, message: "\(next.key): derived image not stored: \(error)")
            }
            next.work.end()
            forget(next.key, heldBytes: next.image?.cost.bytes ?? 0)
        }
    }

    private func write(_ pending: Pending) async throws(EideticError) {
        guard let disk, let image = pending.image ?? memory.decodedImage(for: pending.imageKey),
            image.provenance == pending.record.provenance
        else { return }
        guard try await isUnknown(pending, in: disk) else { return try await replaceOriginal(of: pending, in: disk) }
        let (isExact, limits) = (settings.isExact, stage.limits)
        let encoded = try await stage.run(in: JobContext(priority: .low)) { _ throws(EideticError) in
            try pending.work.waitUntilAdmitted()
            return try DerivedImageCoding.encode(image, isExact: isExact, limits: limits)
        }
        guard settings.policy != .automatic || encoded.decodingTime * 4 < pending.makingTime else {
            return refuse(pending)
        }
        var metadata = DiskCache.Metadata()
        (metadata.kind, metadata.extendedData) = (.derived, pending.record.encoded)
        try await disk.insert(encoded.bytes, for: pending.key, metadata: metadata, within: pending.work)
        try await replaceOriginal(of: pending, in: disk)
    }

    /// Records that an image does not pay, so that it is not encoded again whenever it is made.
    private func refuse(_ pending: Pending) {
        let refusal = Refusal(key: pending.key, checksum: pending.record.provenance.checksum)
        state.withLock { state in
            if state.refused.count >= Self.refusalLimit { state.refused.removeAll() }
            state.refused.insert(refusal)
        }
    }

    private func isUnknown(_ pending: Pending, in disk: DiskCache) async throws(EideticError) -> Bool {
        guard let known = try await disk.info(for: pending.key), !known.isExpired else { return true }
        return DerivedImageRecord(known.metadata) != pending.record
    }

    /// Replaces the bytes that an image was made from, if the policy says so.
    private func replaceOriginal(of pending: Pending, in disk: DiskCache) async throws(EideticError) {
        guard settings.policy == .derived else { return }
        // Bytes that are written after their replacement would stay.
        _ = try await pending.originalWrite?.value()
        try await disk.replaceOriginalByPlaceholder(
            pending.original,
            checksum: pending.record.provenance.checksum,
            within: try disk.beginWork()
        )
    }
}

extension ImageRequest {
    /// A Boolean value indicating whether the image differs from the resource in its size or by a transform, in a way
    /// that the disk may keep.
    var isDerived: Bool {
        (rendering.size != nil || rendering.transform != nil) && rendering.convertsToSRGB
            && !options.contains(.scaleDownLargeImages) && resource.isStoredOnDisk
    }

    /// The name of the derived image on disk, whichever of its frames are requested.
    var derivedKey: String {
        let options = options.subtracting([.preloadAllFrames, .firstFrameOnly])
        return rendering.cacheKeyText(for: resourceKey, options: options)
    }
}
