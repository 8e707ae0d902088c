import EideticCodecs
import EideticFetch
import EideticStore

/// Images on disk that are already of the requested size and transformed.
extension ImageJob {
    /// Returns the image from the derived ones on disk; `nil` if there is none that may be used.
    nonisolated(nonsending) func derivedResponse() async throws(EideticError) -> ImageResponse? {
        let (dataLoader, stage) = (loader.dataLoader, loader.stage)
        guard let disk = loader.derived.disk else { return nil }
        try await loader.gate.waitUntilOpen(for: context)
        let timer = StepTimer(context), (key, original) = (load.request.derivedKey, load.request.resourceKey)
        let budget = dataLoader.disk.downloader.bodyBudget
        try await budget.waitForRoom(for: context)
        guard let entry = try? await disk.lookup.loadDerivedEntry(for: key, from: original, context: context),
            var found = usable(entry)
        else { return nil }
        let share = budget.makeCompleteShare(of: entry.entry.bytes, for: context)
        defer { share.release() }
        if found.record == nil {
            guard let stored = try? await dataLoader.disk.storedEntry(entry.entry, context: context) else { return nil }
            found.bytes = stored.bytes
        }
        let step = timer.step(.disk, detail: "derived, \(ByteCount(found.bytes.count))")
        do throws(EideticError) {
            let rendition = try await stage.run(decoding: found.bytes, by: policy, in: context) {
                [self, found] context throws(EideticError) in
                try self.rendition(of: found, context: context)
            }
            if fillsMemory {
                token.insert(
                    rendition.image,
                    for: load.request,
                    from: .disk,
                    timeToLive: found.timeToLive,
                    hasSourceSize: found.record != nil
                )
            }
            var response = ImageResponse(rendition.image, source: .disk, steps: [step] + rendition.steps)
            response.isDerived = true
            return response
        } catch  where error.code != .cancelled {
            if found.record != nil, error.indicatesBrokenImage { _ = try? await disk.remove(key) }
            return nil
        }
    }

    /// A Boolean value indicating whether an image on disk that was made from fresh bytes may be used.
    var mayUseDerivedImages: Bool {
        let policy = load.policy
        guard load.request.isDerived, !policy.defersDecoding, policy.tiers.allowsMemory, policy.reads.contains(.derived)
        else { return false }
        // Newer bytes may not be on disk yet.
        return loader.dataLoader.activeImages[load.dataKey] == nil
    }

    /// A derived image that may be used.
    private struct Found: Sendable {
        var bytes: [UInt8]
        /// `nil` if the application has stored the image.
        let record: DerivedImageRecord?
        let timeToLive: Duration?
    }

    /// Returns a derived image if it is that of the bytes which the disk has, and if those need no server.
    ///
    /// One that the application has stored is used until the bytes are replaced.
    private func usable(_ derived: EntryLookup.DerivedEntry) -> Found? {
        let rules = loader.dataLoader.disk.rules
        let (entry, original) = (derived.entry, derived.original)
        let record = DerivedImageRecord(entry.metadata)
        guard let original else {
            guard record == nil else { return nil }
            return Found(bytes: entry.bytes, record: nil, timeToLive: rules.timeToLive(of: entry.metadata))
        }
        if let record {
            guard record.fits(load.request.options, by: rules), record.provenance.checksum == original.checksum
            else { return nil }
        } else {
            // A confirmation, and the first bytes that the disk knows, replace nothing.
            let replacementTime = original.metadata.response.replacementTime
            guard replacementTime.map({ entry.metadata.storageTime >= $0 }) ?? true else { return nil }
        }
        switch rules.use(ofImagesFrom: original.metadata, isExpired: original.isExpired, for: load) {
        case .allowed(_, let timeToLive, _): return Found(bytes: entry.bytes, record: record, timeToLive: timeToLive)
        case .refused: return nil
        }
    }

    private func rendition(of found: Found, context: JobContext?) throws(EideticError) -> Rendition {
        let timer = StepTimer()
        var options = DecodeOptions()
        options.frames = policy.options.frames
        options.scale = policy.options.scale
        let decoded = try loader.stage.decodeDerived(found.bytes, options: options, by: policy, context: context)
        let stored = found.record?.restored(decoded, scale: options.scale) ?? decoded.replacingScale(options.scale)
        let image = stored.compacted()
        return Rendition(image: image, steps: [timer.step(.decode, detail: "derived, \(image.size)")])
    }
}
