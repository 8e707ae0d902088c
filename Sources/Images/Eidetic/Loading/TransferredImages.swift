import EideticCodecs
import EideticFetch
import EideticStore

/// Images whose download was handed over to another process, on their way to the disk cache.
final class TransferredImages: Sendable {
    private typealias Arrivals = AsyncStream<Result<Void, EideticError>>

    private let provider: any BackgroundDownloader
    private let stage: DiskStage
    private let disk: DiskCache
    private let limit: ByteCount
    private let storesUnchanged: Bool
    private let downloader: Downloader
    private let pool = WorkPool(name: "eidetic arrival", maximumThreadCount: 1)
    private let decodePolicy: DecodePolicy
    private let waiters = Guarded<[String: [Arrivals.Continuation]]>([:])
    /// The keys of the images that have come last, for loads that were between the disk and their question.
    private let arrivals = Guarded<[String]>([])
    /// A Boolean value indicating whether the provider once did not answer in time, so that no load waits for it again.
    private let isUnresponsive = Guarded(false)
    /// The longest time for which a load waits for an image that has come.
    private static let arrivalLimit = Duration.seconds(2)

    /// Creates the way to the disk cache of a pipeline; `nil` without a provider or a disk cache.
    init?(configuration: ImagePipeline.Configuration, stage: DiskStage) {
        guard let provider = configuration.transfers?.service.downloader, let disk = configuration.diskCache else {
            return nil
        }
        self.provider = provider
        self.stage = stage
        self.disk = disk
        limit = configuration.decodeLimits.encodedBytes
        decodePolicy = configuration.decodePolicy.resolved(isFromNetwork: true)
        storesUnchanged = configuration.serializer.isIdentity
        downloader = configuration.downloader
        provider.setReceiver { [weak self] download in await self?.receive(download) ?? false }
    }

    /// Hands the download of a request's bytes over, unless the disk has them; failures are logged.
    func handOver(_ load: Load) async {
        do throws(EideticError) {
            try await provider.download(try await makeRequest(for: load))
            Log.write(.info, category: .pipeline, message: "\(load.request.name): handed over to the transfer process")
        } catch {
            Log.write(.warning, category: .pipeline, message: "\(load.request.name): not handed over: \(error)")
        }
    }

    /// Hands the download of a request's bytes over, and waits until the disk has them.
    ///
    /// - Throws: `refused` for a request that this process alone can make; the errors of the provider, of the download,
    ///   and of the disk; `notAnImage`; `cancelled` if the calling task is cancelled, which does not end the download.
    func download(_ load: Load) async throws(EideticError) {
        let download = try await makeRequest(for: load)
        let (arrivals, continuation) = Arrivals.makeStream(bufferingPolicy: .bufferingNewest(1))
        // Registered before the hand-over, which may be followed by the arrival at once.
        waiters.withLock { $0[download.key, default: []].append(continuation) }
        do throws(EideticError) { try await provider.download(download) } catch {
            finish(download.key, with: .failure(error))
        }
        for await result in arrivals { return try result.get() }
        throw .cancelled
    }

    /// Waits until the disk has an image that has come; returns `false` if there is none, and `nil` if the provider was
    /// not asked.
    private func waitForArrival(of request: ImageRequest) async -> Bool? {
        guard request.options.contains(.continueInBackground), !isUnresponsive.withLock({ $0 }),
            let key = try? disk.storedKeyForWriting(request.resourceKey)
        else { return nil }
        let hasWaited = await withTaskGroup(of: Bool?.self) { [provider] group in
            group.addTask { await provider.waitForArrival(of: key) }
            group.addTask { (try? await Task.sleep(for: Self.arrivalLimit)) == nil ? false : nil }
            let hasArrived = await group.next() ?? false
            group.cancelAll()
            if hasArrived == nil { isUnresponsive.withLock { $0 = true } }
            return hasArrived ?? false
        }
        // One that came after the look at the disk is no longer with the provider.
        return arrivals.withLock { $0.contains(key) } || hasWaited
    }

    private func finish(_ key: String, with result: Result<Void, EideticError>) {
        let waiting = waiters.withLock { $0.removeValue(forKey: key) }
        for waiter in waiting ?? [] { waiter.yield(result) }
    }
}

// MARK: Stage
extension TransferredImages: DataStage {
    /// Searches the disk once more if an earlier process has handed over the download, and its image has come.
    nonisolated(nonsending) func find(_ job: DataJob, after search: DataSearch) async throws(EideticError) -> DataLookup
    {
        let timer = StepTimer(job.context)
        guard search.stale == nil, let hasArrived = await waitForArrival(of: job.request) else {
            return .missing(search)
        }
        var search = search
        guard hasArrived else {
            // The network's time is that of the download that follows.
            search.steps.append(timer.step(.disk, detail: "no transfer"))
            return .missing(search)
        }
        search.steps.append(timer.step(.network, detail: "by the transfer service"))
        // A part belongs to a download of this process.
        search.part = nil
        return try await stage.find(job, after: search)
    }
}

// MARK: Arrival
extension TransferredImages {
    /// Stores the image of a download; returns `false` if this process has no more time for it.
    private func receive(_ download: BackgroundDownload) async -> Bool {
        do throws(EideticError) {
            try await store(try download.result.get(), for: download.key)
            arrivals.withLock { $0 = $0.suffix(63) + [download.key] }
            finish(download.key, with: .success(()))
        } catch {
            Log.write(.warning, category: .pipeline, message: "\(download.key): transferred image not stored: \(error)")
            finish(download.key, with: .failure(error))
            if error.code == .cancelled, (try? download.result.get()) != nil { return false }
        }
        return true
    }

    /// Stores a body that is an image, with the fields that decide about its freshness, and the time of its arrival.
    private func store(_ response: BackgroundDownload.Response, for key: String) async throws(EideticError) {
        guard response.status == 200 else {
            throw EideticError(.httpStatus, message: "status \(response.status)", httpStatus: response.status)
        }
        let fields = Storability.storableFields(of: response.headers.map { .init(name: $0.name, value: $0.value) })
        guard Storability.isStorable(status: 200, fields: fields) else {
            throw EideticError(.refused, message: "the response must not be stored")
        }
        let (bytes, arrival) = try await pool.run { [limit, decodePolicy] _ throws(EideticError) in
            let files = FileSystem()
            let bytes: [UInt8], arrival: Timestamp
            do throws(SystemError) {
                arrival = try files.status(of: response.path).modificationTime
                bytes = try files.contents(of: response.path, limit: limit.bytes)
            } catch {
                throw EideticError(error)
            }
            guard try decodePolicy.header(of: bytes) != nil else {
                throw EideticError(.notAnImage, message: "the body is not an image")
            }
            return (bytes, arrival)
        }
        var metadata = DiskCache.Metadata(headers: fields)
        metadata.storageTime = arrival
        try await disk.insert(bytes, for: key, metadata: metadata)
    }
}

// MARK: Hand-over
extension TransferredImages {
    /// Returns the download of a request's bytes, with everything that the downloader adds.
    private func makeRequest(for load: Load) async throws(EideticError) -> BackgroundDownloadRequest {
        let request = load.request
        guard let server = load.server, load.policy.writesToDisk, !request.usesCookies, storesUnchanged else {
            throw Self.refusal(of: request)
        }
        let key = try disk.storedKeyForWriting(request.resourceKey)
        guard let final = try await downloader.requestForTransfer(server) else {
            throw Self.refusal(of: request)
        }
        let fields = final.headers.fields.map { (name: $0.name, value: $0.value) }
        return BackgroundDownloadRequest(key: key, url: final.url, headers: fields)
    }

    private static func refusal(of request: ImageRequest) -> EideticError {
        let reason = "its cookies, certificate, credentials, hooks or serializer belong to this process"
        return EideticError(.refused, message: "\(request.name) cannot be handed over: \(reason)")
    }
}
