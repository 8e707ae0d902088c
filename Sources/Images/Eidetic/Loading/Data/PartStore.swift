import EideticFetch
import EideticStore

/// The parts of interrupted downloads in the disk cache, for the next load of the same resource, also by another
/// process.
///
/// They are derived entries: they count for the limit of the directory and for the share of such entries, expire, and
/// are removed with their resource and with everything else.
final class PartStore: Sendable {
    private let disk: DiskCache
    private let downloader: Downloader
    /// The downloads that may leave a part, and the writes of parts.
    let activity = Activity()
    /// The parts of this process, by the keys of their resources.
    private let progress = Guarded(Progress())

    private struct Progress {
        /// The keys of parts that were written, or are being written.
        var written: Set<String> = []
        /// The number of downloads that may take a part.
        var downloads: [String: Int] = [:]

        static let limit = 1_024
    }

    /// Creates a store; `nil` without a disk cache that is written as the network sends the bytes, and for a downloader
    /// whose hooks may have changed the request of a part.
    init?(_ configuration: ImagePipeline.Configuration) {
        let downloader = configuration.downloader
        guard let disk = configuration.diskCache, !disk.configuration.isReadOnly, configuration.serializer.isIdentity,
            !downloader.changesFields
        else { return nil }
        self.disk = disk
        self.downloader = downloader
    }

    /// Hands the part that the disk has to the downloader, if its response was selected by the same fields.
    func offer(_ entry: DiskCache.Entry, of request: FetchRequest) {
        let headers = HTTPHeaders(entry.metadata.headers)
        guard entry.metadata.response.selectingDigest == selectingDigest(of: headers, for: request),
            let part = PartialBody(
                bytes: entry.bytes,
                headers: headers,
                target: entry.metadata.response.effectiveURL,
                exactTarget: PartialBody.exactTarget(of: request.url)
            )
        else { return }
        downloader.parts.offer(part, of: request)
    }

    /// Hands a part to the downloader that was written after a load had searched the disk; returns `false` without one.
    nonisolated(nonsending) func offerWritten(_ request: FetchRequest, for load: Load, context: JobContext) async
        -> Bool
    {
        let key = load.request.resourceKey
        guard progress.withLock({ $0.written.contains(key) }),
            let part = try? await disk.lookup.loadWithPart(key, context: context).part
        else { return false }
        offer(part, of: request)
        return true
    }

    /// Writes the part that a download has left, if there is one; returns at once.
    ///
    /// - Parameters:
    ///   - request: The request of the download.
    ///   - load: Its load.
    ///   - count: The length of the part that the disk has: one that has not grown keeps its time of expiry.
    func store(_ request: FetchRequest, for load: Load, longerThan count: Int) {
        guard load.policy.writesToDisk, !load.policy.isUnverified, downloader.parts.has(of: request),
            let work = try? disk.work.begin()
        else { return }
        let generation = downloader.parts.memory.generation
        progress.withLock { progress in
            if progress.written.count >= Progress.limit { progress.written = [] }
            progress.written.insert(load.request.resourceKey)
        }
        activity.begin()
        Task.detached { [self] in
            await write(request, for: load, longerThan: count, since: generation, within: work)
            activity.end()
        }
    }

    /// Begins a download that may take a part; one that is in memory then stays there.
    func beginDownload(for load: Load) { progress.withLock { $0.downloads[load.request.resourceKey, default: 0] += 1 } }

    func endDownload(for load: Load) {
        progress.withLock { progress in
            let count = progress.downloads[load.request.resourceKey] ?? 1
            progress.downloads[load.request.resourceKey] = count > 1 ? count - 1 : nil
        }
    }

    private func isDownloading(_ load: Load) -> Bool {
        progress.withLock { $0.downloads[load.request.resourceKey] != nil }
    }

    private func write(
        _ request: FetchRequest,
        for load: Load,
        longerThan count: Int,
        since generation: UInt64,
        within work: BackgroundWork
    ) async {
        // Another download takes the part from memory, and leaves a longer one if it does not complete.
        guard let part = await downloader.parts.part(of: request), part.bytes.count > count, !isDownloading(load),
            downloader.parts.memory.generation == generation,
            let digest = selectingDigest(of: part.headers, for: request)
        else { return work.end() }
        var metadata = DiskCache.Metadata(headers: part.headers.fields)
        metadata.expirationTime = downloader.configuration.time.now + PartialBodies.lifetime
        metadata.kind = .derived
        metadata.importance = .prefetched
        metadata.response.effectiveURL = part.target
        metadata.response.selectingDigest = digest
        let key = EntryKey.part(of: load.request.resourceKey)
        do throws(EideticError) {
            try await disk.insert(part.bytes, for: key, metadata: metadata, within: work)
            // A download has taken it meanwhile or is about to, or all parts were removed.
            if isDownloading(load) || !downloader.parts.remove(part, of: request) { try await disk.remove(key) }
        } catch {
            Log.write(.info, category: .store, message: "\(load.request.name): part not stored: \(error)")
        }
    }

    /// Removes the part of a resource that was loaded; returns at once.
    func remove(for load: Load) {
        _ = progress.withLock { $0.written.remove(load.request.resourceKey) }
        guard let work = try? disk.work.begin() else { return }
        Task.detached { [disk] in
            _ = try? await disk.remove(EntryKey.part(of: load.request.resourceKey))
            work.end()
        }
    }

    /// Returns the digest of the fields of a request that selected a response; empty if none did, `nil` if it must not
    /// be stored.
    private func selectingDigest(of headers: HTTPHeaders, for request: FetchRequest) -> String? {
        let vary = Vary(headers.fields)
        guard let selection = vary.selection(from: downloader.fields.selectingFields(ofSent: request)),
            vary.names.isDisjoint(with: ["authorization", "cookie"])
        else { return nil }
        return selection.isEmpty ? "" : Digest(sha256: Array(selection.utf8)).hexadecimal
    }
}
