import EideticCore
import EideticFetch
import EideticStore

/// The disk cache as a step of a load.
extension ImageDataLoader {
    /// Searches the disk cache; a disk that cannot be read counts as a miss, and the error is logged.
    func diskLookup(for request: ImageRequest, context: JobContext) async -> DiskLookup {
        guard let disk else { return .miss("there is no disk cache") }
        let timer = StepTimer(), budget = source.downloader.bodyBudget
        do throws(EideticError) {
            try await budget.waitForRoom(for: context)
            switch try await disk.lookUp(request.resourceKey, context: context) {
            case .entry(let entry):
                return lookup(
                    of: entry,
                    timer: timer,
                    share: budget.makeCompleteShare(of: entry.bytes, for: context)
                )
            case .absent: return .miss("miss")
            case .expired: return .miss("miss: expired")
            case .damaged(let reason): return .miss("miss: damaged, \(reason)")
            }
        } catch {
            Log.write(.warning, category: .store, message: "\(request.name): not read from disk: \(error)")
            return .miss("miss: \(error)")
        }
    }

    /// Returns an image that may be used without revalidation, read from disk by the calling thread.
    func imageSynchronously(for request: ImageRequest) -> EncodedImage? {
        guard request.resource.isStoredOnDisk, let disk else { return nil }
        if let image = activeImages[request.dataKey] { return image }
        let timer = StepTimer()
        guard let entry = try? disk.blocking.read(request.resourceKey),
            case .hit(let image) = lookup(of: entry, timer: timer), !image.needsRevalidation
        else { return nil }
        return image
    }

    /// Returns the bytes that a cache has, however stale, for an image that was in memory.
    func cachedBytes(for request: ImageRequest) async -> [UInt8]? {
        if let bytes = bytesInMemory(for: request) { return bytes }
        switch await diskLookup(for: request, context: JobContext(priority: request.priority)) {
        case .hit(let image): return image.bytes
        case .stale(let entry): return entry.bytes
        case .miss: return nil
        }
    }

    /// Returns the bytes that a cache has, however stale, read by the calling thread.
    func cachedBytesSynchronously(for request: ImageRequest) -> [UInt8]? {
        bytesInMemory(for: request) ?? (try? disk?.blocking.read(request.resourceKey, allowingExpired: true)?.bytes)
    }

    /// Returns the image that is being written to disk, or could not be, although memory may have it decoded.
    func unstoredImage(for request: ImageRequest) -> EncodedImage? {
        activeImages[request.dataKey].flatMap { $0.hasStartedStoring ? $0 : nil }
    }

    private func bytesInMemory(for request: ImageRequest) -> [UInt8]? {
        if let image = activeImages[request.dataKey] { return image.bytes }
        if case .bytes(let bytes) = request.resource { return bytes }
        return nil
    }

    private func lookup(of entry: DiskCache.Entry, timer: StepTimer, share: BodyShare? = nil) -> DiskLookup {
        let detail = "hit, \(ByteCount(entry.bytes.count))"
        guard let freshness = freshness(of: entry.metadata) else {
            let step = timer.step(.disk, detail: detail)
            return .hit(EncodedImage(bytes: entry.bytes, source: .disk, steps: [step], share: share))
        }
        let use = freshness.reuse(at: SystemTime().now)
        guard use != .afterValidation else { return .stale(entry) }
        let step = timer.step(.disk, detail: detail + (use == .fresh ? ", fresh" : ", stale while revalidated"))
        return .hit(
            EncodedImage(
                bytes: entry.bytes,
                source: .disk,
                steps: [step],
                timeToLive: timeToLive(of: entry.metadata),
                needsRevalidation: use == .staleWhileRevalidating,
                share: share
            )
        )
    }
}
