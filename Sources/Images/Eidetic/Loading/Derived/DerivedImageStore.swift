import EideticCodecs
import EideticHTTP
import EideticStore

/// The images of other sizes, and the transformed ones, on disk: finds them, and writes them one after the other while
/// no image is decoded that a caller waits for.
final class DerivedImageStore: Sendable {
    /// An image that waits for its write.
    private struct Pending: Sendable {
        let key: String
        /// The key of the bytes.
        let original: String
        let imageKey: CacheKey
        let record: DerivedImageRecord
        let makingTime: Duration
        /// The image; `nil` if those that wait hold enough memory, so that the memory cache must still have it.
        let image: Image?
        /// The write of the bytes that it was made from; `nil` if they were on disk.
        let originalWrite: Promise<EideticError?>?
        let work: BackgroundWork
    }

    private struct Refusal: Hashable {
        let key: String
        let checksum: UInt64
    }

    private struct State {
        var queue: [Pending] = []
        /// A Boolean value indicating whether a task writes the images, or waits until it may.
        var isDraining = false
        var active: (key: String, checksum: UInt64)?
        /// The images that proved not to pay, by their names and the bytes that they were made from.
        var refused: Set<Refusal> = []
        var heldBytes = 0

        mutating func append(_ pending: Pending) {
            queue.append(pending)
            heldBytes += pending.image?.cost.bytes ?? 0
        }

        /// Removes the waiting image with this name, and returns it.
        mutating func removeWaiting(_ key: String) -> Pending? {
            guard let index = queue.firstIndex(where: { $0.key == key }) else { return nil }
            heldBytes -= queue[index].image?.cost.bytes ?? 0
            return queue.remove(at: index)
        }

        /// Returns the image that is written next; `nil` if none waits.
        mutating func activateNext() -> Pending? {
            isDraining = !queue.isEmpty
            guard isDraining else { return nil }
            let next = queue.removeFirst()
            active = (next.key, next.record.provenance.checksum)
            return next
        }
    }

    let settings: ImagePipeline.Configuration.DerivedImages
    let disk: DiskCache?
    private let mayWrite: Bool
    private let stage: DecodeStage
    private let memory: ImageMemoryCache
    private let state = Guarded(State())
    /// The writes of all images that were queued.
    let activity = Activity()
    /// The number of decodes after which the next image is written although others run, so that a server that is never
    /// idle keeps derived images, too.
    static let longestWait = 64

    /// The memory of the images that wait outside of the memory cache: at most half as much as it may have.
    private static let heldLimit = 4 << 20...32 << 20
    private static let refusalLimit = 4_096

    init(_ configuration: ImagePipeline.Configuration, stage: DecodeStage, memory: ImageMemoryCache) {
        settings = configuration.derivedImages
        disk = settings.policy == .originals ? nil : configuration.diskCache
        mayWrite = configuration.serializer.isIdentity && disk?.configuration.isReadOnly == false
        self.stage = stage
        self.memory = memory
    }

    /// The number of images that wait or are being written.
    var pendingCount: Int { state.withLock { $0.queue.count + ($0.active == nil ? 0 : 1) } }

    /// Queues an image that was made for a load, if it is one that the disk keeps; returns at once.
    func store(_ rendition: Rendition, of encodedImage: EncodedImage, for load: Load) {
        let (image, isExact) = (rendition.image, settings.isExact)
        guard encodedImage.facts.mayBeDerivedFrom, encodedImage.timeToLive != .zero, mayStore(image, for: load),
            isWorthwhile(rendition),
            let record = DerivedImageRecord(image, isStill: isStill(encodedImage, as: rendition), isExact: isExact)
        else { return }
        enqueue(rendition, record: record, after: encodedImage.storage?.activeWrite, for: load)
    }

    /// Queues an image that was made from a larger one in memory, with the policy that keeps every image.
    ///
    /// The time of making it from its bytes, by which `automatic` decides, is unknown.
    func store(downscaled rendition: Rendition, for load: Load) {
        guard settings.policy == .both, !load.policy.defersDecoding, mayStore(rendition.image, for: load),
            let record = DerivedImageRecord(rendition.image, isStill: load.request.options.needsFrames, isExact: false)
        else { return }
        enqueue(rendition, record: record, after: nil, for: load)
    }

    private func mayStore(_ image: Image, for load: Load) -> Bool {
        disk != nil && mayWrite && load.policy.writesToDisk && !CacheControl(load.policy.cacheFields).noStore
            && load.policy.writes.contains(.derived) && load.request.isDerived && !image.isAnimated
            && !image.isPartial && (image.size != image.sourceSize || load.request.rendering.transform != nil)
    }

    private func enqueue(
        _ rendition: Rendition,
        record: DerivedImageRecord,
        after originalWrite: Promise<EideticError?>?,
        for load: Load
    ) {
        let key = load.request.derivedKey
        let image = rendition.image
        guard mayQueue(key, checksum: record.provenance.checksum),
            let work = try? disk?.work.begin(onExpiration: { [weak self] in self?.giveUp() })
        else { return }
        let limit = max(Self.heldLimit.lowerBound, min(Self.heldLimit.upperBound, memory.images.costLimit.bytes / 2))
        let (replaced, starts) = state.withLock { state in
            let replaced = state.removeWaiting(key)
            let isHeld = state.heldBytes == 0 || state.heldBytes + image.cost.bytes <= limit
            let pending = Pending(
                key: key,
                original: load.request.resourceKey,
                imageKey: load.request.imageKey,
                record: record,
                makingTime: rendition.makingTime,
                image: isHeld ? image : nil,
                originalWrite: originalWrite,
                work: work
            )
            state.append(pending)
            let starts = !exchange(&state.isDraining, with: true)
            // Under the lock: whoever queues the next image may wait for it at once.
            if starts { activity.begin() }
            return (replaced, starts)
        }
        replaced?.work.end()
        guard starts else { return }
        Task.detached(priority: .background) { await self.drain() }
    }

    /// Returns whether an image is neither refused nor being written, and may wait.
    private func mayQueue(_ key: String, checksum: UInt64) -> Bool {
        state.withLock { state in
            !state.refused.contains(Refusal(key: key, checksum: checksum))
                && (state.active?.key != key || state.active?.checksum != checksum)
                && !state.queue.contains { $0.key == key && $0.record.provenance.checksum == checksum }
                && (state.queue.count < settings.queueLimit || state.queue.contains { $0.key == key })
        }
    }

    /// Forgets all images that wait: the background time has expired, and what is being written may still finish.
    private func giveUp() {
        let waiting = state.withLock { state in state.queue.map(\.key).compactMap { state.removeWaiting($0) } }
        for pending in waiting { pending.work.end() }
    }

    /// Returns whether bytes, of which one frame was decoded, have no other.
    private func isStill(_ encodedImage: EncodedImage, as rendition: Rendition) -> Bool {
        // An image that was decoded in the sandbox is not parsed here.
        let frameCount = rendition.frameCount ?? (try? ImageDecoder.header(of: encodedImage.bytes))?.frameCount
        return frameCount == 1
    }

    /// Returns whether an image may be kept, before it is encoded: the fastest decoder needs 4 ns for a pixel.
    private func isWorthwhile(_ rendition: Rendition) -> Bool {
        let image = rendition.image
        let leastReadingTime = Duration.nanoseconds(min(image.size.pixelCount, 1 << 40) * 4)
        return settings.policy != .automatic || rendition.makingTime > leastReadingTime * 4
    }
}

// MARK: Writing
extension DerivedImageStore {
    /// Writes the images that wait, each when no other image is decoded.
    private func drain() async {
        repeat { await stage.activity.waitUntilIdle(orEnded: Self.longestWait) } while await writeNext()
        activity.end()
    }

    /// Writes the image that waits first; returns `false` if none waits.
    private func writeNext() async -> Bool {
        guard let pending = state.withLock({ $0.activateNext() }) else { return false }
        do throws(EideticError) { try await write(pending) } catch {
            Log.write(.debug, category: .store, message: "\(pending.key): derived image not stored: \(error)")
        }
        pending.work.end()
        state.withLock { state in
            state.active = nil
            state.heldBytes -= pending.image?.cost.bytes ?? 0
        }
        return true
    }

    private func write(_ pending: Pending) async throws(EideticError) {
        guard let disk, let image = pending.image ?? memory.decodedImage(for: pending.imageKey),
            image.provenance == pending.record.provenance
        else { return }
        // Without an original in the cache's own directory the image could not be used.
        _ = try await pending.originalWrite?.value()
        let original = try await disk.lookup.loadOriginal(for: pending.original)
        guard original?.checksum == pending.record.provenance.checksum else { return }
        let known = try await disk.lookup.load { lookup throws(EideticError) in try lookup.info(for: pending.key) }
        if let known, !known.isExpired, DerivedImageRecord(known.metadata) == pending.record { return }
        let (isExact, limits) = (settings.isExact, stage.limits)
        let encoded = try await stage.run(in: JobContext(priority: .low)) { _ throws(EideticError) in
            try pending.work.waitUntilAdmitted()
            return try DerivedImageCoding.encode(image, isExact: isExact, limits: limits)
        }
        guard settings.policy != .automatic || encoded.decodingTime * 4 < pending.makingTime else {
            return refuse(pending)
        }
        var metadata = DiskCache.Metadata()
        metadata.kind = .derived
        metadata.extendedData = pending.record.encoded
        try await disk.insert(encoded.bytes, for: pending.key, metadata: metadata, within: pending.work)
    }

    /// Records that an image does not pay, so that it is not encoded again whenever it is made.
    private func refuse(_ pending: Pending) {
        let refusal = Refusal(key: pending.key, checksum: pending.record.provenance.checksum)
        state.withLock { state in
            if state.refused.count >= Self.refusalLimit { state.refused.removeAll() }
            state.refused.insert(refusal)
        }
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
