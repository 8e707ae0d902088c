import EideticCore
import EideticFetch
import EideticHTTP
import EideticStore

/// Encoded images of bytes that a source sent or confirmed, and what the disk keeps of them.
extension ImageDataLoader {
    /// Creates the image of bytes that the source sent or confirmed; other loads find new ones until they are on disk.
    func makeImage(
        _ fetched: Fetched,
        for load: Load,
        after steps: [LoadTrace.Step],
        lease: HeldLease?
    ) async -> EncodedImage {
        let response = fetched.response, request = load.request
        var retention = retention(
            of: fetched.final,
            redirects: fetched.redirects,
            origin: response.origin,
            for: load
        )
        let url = response.effectiveURL
        retention.record.effectiveURL = checksum(ofTarget: url, origin: response.origin, for: request)
        if let confirmed = fetched.confirmed, load.policy.access.contains(.writeOriginal) {
            await refresh(confirmed, with: &retention)
        }
        let isWritten = if case .none = retention.place { false } else { true }
        let image = EncodedImage(
            bytes: fetched.bytes,
            source: response.isTransferred ? .network : .disk,
            steps: steps + [response.step],
            timeToLive: retention.timeToLive,
            time: source.downloader.configuration.time,
            server: response.isTransferred ? response.server : nil,
            responses: response.origin?.responses ?? [],
            diskKey: diskKey(of: fetched, for: request),
            isConfirmed: fetched.confirmed != nil,
            onReplacement: replacementHandler(for: request),
            writer: writer(of: fetched, retention: retention, for: load),
            publisher: publisher(of: fetched, retention: retention, for: load, lease: lease),
            lease: lease,
            isWritten: isWritten,
            mayBeDerivedFrom: isWritten && isForOthers(retention) && retention.selection.isEmpty
                && diskKey(of: fetched, for: request).map { $0 == request.resourceKey } ?? true,
            share: response.share
        )
        if fetched.confirmed == nil, isForOthers(retention) { activeImages.insert(image, for: request.dataKey) }
        return image
    }

    /// Returns whether other loads may use the bytes before they are on disk.
    ///
    /// Bytes that are neither storable nor fresh are for the callers of this job alone, as are those that hooks
    /// selected.
    private func isForOthers(_ retention: Retention) -> Bool {
        if case .resource = retention.place, !retention.record.dependsOnHooks { return true }
        return retention.timeToLive != .zero
    }

    private func diskKey(of fetched: Fetched, for request: ImageRequest) -> String? {
        if let confirmed = fetched.confirmed { return confirmed.entry.key }
        guard let target = fetched.response.origin?.cachedTarget, let entries = redirectEntries(for: request) else {
            return nil
        }
        return key(of: target, keyOptions: entries.keyOptions)
    }

    /// Returns a handler that removes the renditions of replaced bytes from memory.
    func replacementHandler(for request: ImageRequest) -> EncodedImage.ReplacementHandler {
        { [renditions] in renditions.replaceContent(of: request, checksum: $0, isRepeated: $1) }
    }

    /// Returns the function that brings the disk up to date with new bytes; `nil` if it is so already.
    private func writer(
        of fetched: Fetched,
        retention: Retention,
        for load: Load
    ) -> EncodedImage.Writer? {
        guard let disk, load.policy.writesToDisk else { return nil }
        let bytes = fetched.bytes, request = load.request
        switch retention.place {
        case .none: return fetched.confirmed == nil && retention.removesEntry ? remover(for: request) : nil
        case .resource:
            guard fetched.confirmed == nil else { return nil }
            return writer(of: bytes, for: request.resourceKey, retention: retention, in: disk)
        case .target(let target):
            // The target's own entry has the bytes already.
            guard fetched.response.origin?.cachedTarget == nil, let entries = redirectEntries(for: request) else {
                return remover(for: request)
            }
            let key = key(of: target, keyOptions: entries.keyOptions)
            let write = writer(of: bytes, for: key, retention: retention, in: disk), remove = remover(for: request)
            return { makePlaceholder in
                let (complete, completeRemoval) = (write(makePlaceholder), remove { nil })
                return { () async throws(EideticError) in
                    try await complete()
                    try await completeRemoval()
                }
            }
        }
    }

    func writer(
        of bytes: [UInt8],
        for key: String,
        retention: Retention,
        in disk: DiskCache
    ) -> EncodedImage.Writer {
        { makePlaceholder in
            let work = Result { () throws(EideticError) in try disk.beginWork() }
            return { () async throws(EideticError) in
                let work = try work.get()
                var retention = retention
                retention.record.placeholder = await makePlaceholder()
                retention.record.replacementTime = await self.replacementTime(of: bytes, for: key, in: disk)
                let (key, metadata) = try await self.destination(for: key, retention: retention)
                let bytes = try await self.serialized(bytes, for: key)
                try await disk.insert(bytes, for: key, metadata: metadata, within: work)
            }
        }
    }

    /// Returns the time at which bytes take the place of others; `nil` if the disk knows none.
    private func replacementTime(of bytes: [UInt8], for key: String, in disk: DiskCache) async -> Timestamp? {
        guard let known = try? await disk.original(for: key) else { return nil }
        let isEqual = known.checksum == Image.Provenance(of: bytes).checksum
        return isEqual ? ResponseRecord(known.metadata).replacementTime : now
    }

    /// Returns the key and the metadata of a new entry.
    private func destination(
        for key: String,
        retention: Retention
    ) async throws(EideticError) -> (String, DiskCache.Metadata) {
        var retention = retention, key = key
        if !retention.selection.isEmpty {
            (key, retention) = try await pool.run { [retention, key] _ throws(EideticError) in
                var retention = retention
                let key = try self.assignKey(key, to: &retention)
                return (key, retention)
            }
        }
        var metadata = retention.metadata
        if retention.record != ResponseRecord() { metadata.extendedData = retention.record.encoded }
        return (key, metadata)
    }

    /// Returns the function that removes the entry of bytes which were replaced by ones that must not be stored.
    private func remover(for request: ImageRequest) -> EncodedImage.Writer {
        { [disk] _ in
            { () async throws(EideticError) in
                guard let disk else { return }
                let isSearched = disk.configuration.tiers.isEmpty
                if isSearched, try await disk.original(for: request.resourceKey) == nil { return }
                _ = try await disk.remove(request.resourceKey)
            }
        }
    }
}
