import EideticCore
import EideticFetch
import EideticHTTP
import EideticStore

/// The source as the last stage of a load: a server confirms cached bytes, or sends others.
final class SourceStage: DataStage {
    let source: ImageDataSource
    let disk: DiskStage
    /// The tier that receives the bytes; `nil` without one.
    let shared: SharedStage?
    let activeImages = ActiveImages()
    private let renditions: RenditionIndex
    private let gate: InteractionGate

    init(
        configuration: ImagePipeline.Configuration,
        disk: DiskStage,
        shared: SharedStage?,
        renditions: RenditionIndex,
        gate: InteractionGate
    ) {
        source = ImageDataSource(configuration: configuration, parts: disk.parts)
        self.disk = disk
        self.shared = shared
        self.renditions = renditions
        self.gate = gate
    }

    var rules: FreshnessRules { disk.rules }

    /// Loads from the source; a stale entry is used if the server confirms it, or if it may stand in for an error.
    nonisolated(nonsending) func find(_ job: DataJob, after search: DataSearch) async throws(EideticError) -> DataLookup
    {
        do throws(EideticError) {
            guard job.tiers.allowsSource || !job.request.resource.isStoredOnDisk else {
                throw EideticError.cacheMiss(of: job.request)
            }
            try job.context.checkCancellation()
            try await gate.waitUntilOpen(for: job.context)
            // A caller that has the image shows how it was found itself.
            let timer = StepTimer(), steps = job.tiers.isValidation ? [] : search.steps
            do throws(EideticError) {
                let fetched = try await fetch(job, after: search)
                return .found(await image(of: fetched, for: job.load, after: steps, lease: search.lease))
            } catch {
                guard !job.tiers.isValidation, let stale = search.stale,
                    rules.allowsStale(stale, after: error, for: job.load)
                else { throw error }
                let step = timer.step(.network, detail: "stale, because of \(error)")
                var facts = EncodedImage.Facts()
                facts.freshness = EncodedImage.Freshness(.zero)
                facts.fields = stale.fields
                let image = EncodedImage(stale.bytes, from: .disk, steps: steps + [step], facts: facts)
                return .found(StoragePlan(for: image).image)
            }
        } catch {
            // After a failure all others try at once; after a cancellation the next one loads for them.
            search.lease?.end(with: error.code == .cancelled ? .released : .waived(SharedStage.failureInterval))
            throw error
        }
    }
}

// MARK: Validation
extension SourceStage {
    /// Loads the bytes from the source, under the condition that they differ from a stored entry.
    ///
    /// A confirmation of something else than that entry is not used; the request is then repeated without conditions.
    /// An entry that the server reports to be gone is removed.
    nonisolated(nonsending) private func fetch(
        _ job: DataJob,
        after search: DataSearch
    ) async throws(EideticError) -> ImageDataSource.Response {
        let stored = search.stale
        do throws(EideticError) {
            let isGet = !job.request.resource.hasRemote { !$0.isGet }
            let conditions = isGet ? stored.map { Validators($0.fields).conditionalFields } ?? [] : []
            var headers = HTTPHeaders(conditions)
            if job.tiers.isReload { headers["Cache-Control"] = job.request.reloadDirectives }
            let entries = redirectEntries(for: job.load)
            let terms = ImageDataSource.Terms(conditions: headers, redirectEntries: entries, part: search.part)
            let response = try await source.response(for: job, on: terms)
            guard response.isConfirmation else { return response }
            if let fetched = await resolve(response, validating: stored, for: job.load) { return fetched }
            if !conditions.isEmpty || response.origin?.cachedTarget != nil {
                let repeated = try await source.response(for: job)
                if !repeated.isConfirmation { return repeated }
            }
            throw Self.unexpectedNotModified(for: job.request)
        } catch {
            await removeIfGone(job.request, after: error)
            throw error
        }
    }

    /// Returns a confirmation with the bytes that it confirms; `nil` if those are not of a known entry.
    private func resolve(
        _ response: ImageDataSource.Response,
        validating stored: StoredEntry?,
        for load: Load
    ) async -> ImageDataSource.Response? {
        guard let origin = response.origin else { return nil }
        if origin.cachedTarget != nil { return await resolveTarget(response, origin: origin, for: load) }
        guard let stored, NotModified.confirms(response.final.fields, stored: stored.fields),
            stored.record.effectiveURL == checksum(ofTarget: response.effectiveURL, origin: origin, for: load.request)
        else { return nil }
        var response = response
        response.bytes = stored.bytes
        response.final = stored.response.confirmed(by: response.final, fields: response.final.fields)
        response.confirmed = stored
        return response
    }

    /// Returns a response with the bytes of the own entry of a redirect's target.
    private func resolveTarget(
        _ response: ImageDataSource.Response,
        origin: ResponseOrigin,
        for load: Load
    ) async -> ImageDataSource.Response? {
        guard let target = origin.cachedTarget, let entries = redirectEntries(for: load),
            let stored = await storedEntry(for: target, keyOptions: entries.keyOptions)
        else { return nil }
        var response = response
        response.bytes = stored.bytes
        guard !origin.isTargetFresh else {
            response.final = stored.response
            response.redirects = origin.responses
            return response
        }
        guard NotModified.confirms(response.final.fields, stored: stored.fields) else { return nil }
        response.final = stored.response.confirmed(by: response.final, fields: response.final.fields)
        await disk.refresh(
            stored,
            with: Retention(of: response.final, redirects: [], origin: origin, for: load, on: disk)
        )
        return response
    }

    /// Removes what caches have of an image that its server reports to be gone (404 and 410).
    private func removeIfGone(_ request: ImageRequest, after error: EideticError) async {
        guard rules.isHTTP, !request.writes.isEmpty, !error.isRemembered,
            error.code == .httpStatus, [404, 410].contains(error.httpStatus),
            case .remote = request.resource.kind
        else { return }
        renditions.replacement(of: request, by: nil).record()
        if let shared, let key = shared.key(for: Load(request)) { await shared.remove(key, ifEqualTo: nil) }
        _ = try? await disk.disk?.remove(request.resourceKey)
    }

    /// The error of a server that confirms an entry although the loader sent no condition; the caller may have.
    private static func unexpectedNotModified(for request: ImageRequest) -> EideticError {
        let hasOwnCondition = ["If-None-Match", "If-Modified-Since"].contains { request.headers[$0] != nil }
        let problem =
            hasOwnCondition ? "the request's own condition, without a stored image" : "a request without conditions"
        return EideticError(.badResponse, message: "\(request.name): status 304 to \(problem)", httpStatus: 304)
    }
}

// MARK: Retention
extension SourceStage {
    /// Returns the image of bytes that the source sent or confirmed; other loads find new ones until they are on disk.
    nonisolated(nonsending) private func image(
        of response: ImageDataSource.Response,
        for load: Load,
        after steps: [LoadTrace.Step],
        lease: HeldLease?
    ) async -> EncodedImage {
        let request = load.request
        let (origin, url) = (response.origin, response.effectiveURL)
        var retention = Retention(
            of: response.final,
            redirects: response.redirects,
            origin: origin,
            for: load,
            on: disk
        )
        retention.record.effectiveURL = checksum(ofTarget: url, origin: origin, for: request)
        if let confirmed = response.confirmed, load.policy.writes.contains(.original) {
            await disk.refresh(confirmed, with: retention)
        }
        let source: ImageSource =
            switch request.resource.kind {
            case .provider: .provider
            default: response.isTransferred ? .network : .disk
            }
        var facts = EncodedImage.Facts()
        facts.freshness = EncodedImage.Freshness(retention.timeToLive, time: rules.time)
        facts.isTransferred = response.isTransferred
        facts.fields = response.final.fields
        facts.responses = origin?.responses ?? []
        facts.diskKey = response.confirmed?.entry.key ?? key(of: origin?.cachedTarget, for: request)
        facts.isConfirmed = response.confirmed != nil
        facts.mayBeDerivedFrom =
            retention.place != .none && retention.isForOthers && retention.selection.isEmpty
            && facts.diskKey.map { $0 == request.resourceKey } ?? true
        let image = EncodedImage(response.bytes, from: source, steps: steps + [response.step], facts: facts)
        let plan = StoragePlan(
            for: image,
            changes: changes(by: response, retention: retention, for: load),
            on: disk,
            replacement: renditions.replacement(of: request, by: image.provenance),
            publication: publication(of: response, retention: retention, for: load, lease: lease),
            lease: lease,
            share: response.share
        )
        if response.confirmed == nil, retention.isForOthers { activeImages.insert(plan, for: load.dataKey) }
        return plan.image
    }

    /// Returns the changes that bring the disk up to date with the bytes; none if it is so already.
    private func changes(
        by fetched: ImageDataSource.Response,
        retention: Retention,
        for load: Load
    ) -> [StoragePlan.DiskChange] {
        guard disk.disk != nil, load.policy.writesToDisk else { return [] }
        let key = load.request.resourceKey
        switch retention.place {
        case .none: return fetched.confirmed == nil && retention.removesEntry ? [.remove(key: key)] : []
        case .resource: return fetched.confirmed == nil ? [.insert(key: key, retention)] : []
        case .target:
            // The target's own entry has the bytes already.
            guard fetched.origin?.cachedTarget == nil,
                let targetKey = self.key(of: retention.target, for: load.request)
            else { return [.remove(key: key)] }
            return [.insert(key: targetKey, retention), .remove(key: key)]
        }
    }

    /// Returns the entry of the shared tier; `nil`, with the lease waived, if the bytes are not for other machines.
    private func publication(
        of fetched: ImageDataSource.Response,
        retention: Retention,
        for load: Load,
        lease: HeldLease?
    ) -> SharedPublication? {
        // The time of this request alone may shorten that of all machines.
        let standard = disk.disk?.configuration.maximumAge ?? .seconds(7 * 24 * 3_600)
        let isOwn = load.request.cachePolicy.timeToLive != nil
        let limit = retention.timeToLive.map { isOwn ? min($0, standard) : $0 } ?? standard
        guard let shared, load.policy.isShared, retention.place == .resource, let key = shared.key(for: load),
            let origin = fetched.origin,
            let timeToLive = SharedLifetime.value(
                of: fetched.final,
                redirects: fetched.redirects,
                exchanges: origin.responses,
                limit: limit,
                at: rules.now
            ),
            fetched.bytes.count + SharedEntry.overhead <= shared.tier.valueLimit.bytes
        else {
            lease?.end(with: .waived(SharedStage.unsharedInterval))
            return nil
        }
        var metadata = retention.metadata
        metadata.storageTime = rules.now
        metadata.expirationTime = rules.now + timeToLive
        let entry = DiskCache.Entry(key: key, bytes: fetched.bytes, metadata: metadata)
        return SharedPublication(entry: entry, timeToLive: timeToLive, stage: shared)
    }
}

// MARK: Redirects
/// The targets of redirects, which have entries of their own.
extension SourceStage: RedirectCache {
    /// Returns the settings by which the downloader finds the entries of targets; `nil` if they are not used.
    private func redirectEntries(for load: Load) -> RedirectEntries? {
        // A load from the source alone is one behind a redirect too: the bytes of caches may have proved to be broken.
        guard load.policy.tiers != .sourceOnly, let options = keyOptions(for: load.request) else { return nil }
        return RedirectEntries(in: self, keyOptions: options)
    }

    /// Returns the parts of a request that the keys of its targets have; `nil` if targets have no entries.
    private func keyOptions(for request: ImageRequest) -> RedirectEntries.KeyOptions? {
        guard rules.isHTTP, disk.disk != nil, request.resource.isStoredOnDisk, request.reads.contains(.original) else {
            return nil
        }
        let suffix = request.resource.identitySuffix(for: request.options)
        return .init(ignoredQueryItems: request.ignoredQueryItems, suffix: suffix)
    }

    func entry(for target: FetchRequest, keyOptions: RedirectEntries.KeyOptions) async -> RedirectEntry? {
        guard let stored = await storedEntry(for: target, keyOptions: keyOptions),
            let freshness = rules.freshness(of: stored)
        else { return nil }
        let fields = target.headers.fields
        if !stored.isExpired, freshness.reuse(at: rules.now, request: fields) == .fresh { return .fresh }
        let conditions = Validators(stored.fields).conditionalFields
        return conditions.isEmpty ? nil : .stale(conditions: HTTPHeaders(conditions))
    }

    /// Returns the own entry of a target.
    private func storedEntry(for target: FetchRequest, keyOptions: RedirectEntries.KeyOptions) async -> StoredEntry? {
        let key = key(of: target, keyOptions: keyOptions)
        let context = JobContext(priority: .normal)
        let result = try? await disk.search(for: key, context: context) { () async throws(EideticError) in
            disk.downloader.fields.selectingFields(ofSent: target)
        }
        guard case .found(let stored) = result else { return nil }
        return stored
    }

    /// Returns the key of a target's own entry; `nil` if such entries are not used.
    private func key(of target: FetchRequest?, for request: ImageRequest) -> String? {
        guard let target, let options = keyOptions(for: request) else { return nil }
        return key(of: target, keyOptions: options)
    }

    private func key(of target: FetchRequest, keyOptions: RedirectEntries.KeyOptions) -> String {
        ImageRequest.Resource.remote(target).identity(ignoringQueryItems: keyOptions.ignoredQueryItems)
            + keyOptions.suffix
    }

    /// Returns the checksum of the URL that redirects led to, without its ignored items; 0 without redirects.
    private func checksum(ofTarget url: String, origin: ResponseOrigin?, for request: ImageRequest) -> UInt64 {
        guard origin?.target != nil else { return 0 }
        let text = SignedURL.removingQueryItems(request.ignoredQueryItems, from: url)
        return Array(text.utf8).withUnsafeBytes { Checksum.value(of: $0) }
    }
}
