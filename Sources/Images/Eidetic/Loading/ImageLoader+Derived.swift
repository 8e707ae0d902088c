import EideticCodecs
import EideticCore
import EideticFetch
import EideticStore

/// Images on disk that are already of the requested size and transformed.
extension ImageLoader {
    /// Returns the image from the derived ones on disk; `nil` if there is none that may be used.
    ///
    /// If the bytes that it was made from are stale, and only their placeholder is left, their server is asked whether
    /// they have changed; new ones are decoded.
    func derivedImage(for job: Job) async throws(EideticError) -> Output? {
        let load = job.load
        guard let disk = derived.disk, mayUseDerivedImages(for: load) else { return nil }
        try await gate.waitUntilOpen(for: job.context)
        let timer = StepTimer(job.context), (key, original) = (load.request.derivedKey, load.request.resourceKey)
        let budget = dataLoader.source.downloader.bodyBudget
        try await budget.waitForRoom(for: job.context)
        guard let entry = try? await disk.derivedEntry(for: key, from: original, context: job.context),
            let known = usable(entry, for: load)
        else { return nil }
        var usable = known
        let share = budget.makeCompleteShare(of: entry.entry.bytes, for: job.context)
        defer { share.release() }
        if usable.record == nil {
            guard let stored = try? await dataLoader.storedEntry(entry.entry, context: job.context) else { return nil }
            usable.bytes = stored.bytes
        }
        let step = timer.step(.disk, detail: usable.detail)
        if let placeholder = usable.stalePlaceholder {
            switch try await dataLoader.validate(placeholder, for: job.dataJob, after: [step]) {
            case .replaced(let encodedImage): return try await render(encodedImage, for: job)
            case .valid(let timeToLive): usable.timeToLive = timeToLive
            }
        }
        let found = usable
        do throws(EideticError) {
            let policy = stage.policy(for: load)
            let rendition = try await stage.run(decoding: found.bytes, by: policy, in: job.context) {
                [self] context throws(EideticError) in
                try self.rendition(of: found, for: load, context: context)
            }
            return output(rendition, of: found, after: step, for: load, token: job.token)
        } catch  where error.code != .cancelled {
            if found.record != nil, error.indicatesBrokenImage { _ = try? await disk.remove(key) }
            return nil
        }
    }

    /// Returns the image from the derived ones on disk, read and decoded by the calling thread.
    func derivedImageSynchronously(for load: Load, token: RenditionIndex.LoadToken) -> Output? {
        guard let disk = derived.disk, mayUseDerivedImages(for: load) else { return nil }
        let timer = StepTimer(), (key, original) = (load.request.derivedKey, load.request.resourceKey)
        guard let entry = try? disk.blocking.derivedEntry(for: key, from: original),
            var found = usable(entry, for: load), found.stalePlaceholder == nil
        else { return nil }
        if found.record == nil {
            guard let stored = try? dataLoader.storedEntry(entry.entry) else { return nil }
            found.bytes = stored.bytes
        }
        let step = timer.step(.disk, detail: found.detail)
        guard let rendition = try? self.rendition(of: found, for: load, context: nil) else { return nil }
        return output(rendition, of: found, after: step, for: load, token: token)
    }

    /// Returns the displayed image if its server confirms it, and only the placeholder of its bytes is left; otherwise,
    /// `nil`.
    func unchangedImage(for job: Job) async throws(EideticError) -> Output? {
        guard let displayed = job.displayed, job.load.policy.tiers.isValidation, derived.settings.policy == .derived,
            let original = try? await derived.disk?.original(for: job.load.request.resourceKey),
            let placeholder = original.placeholder, original.checksum == displayed.encodedChecksum
        else { return nil }
        let timer = StepTimer(job.context)
        switch try await dataLoader.validate(placeholder, for: job.dataJob, after: []) {
        case .replaced(let encodedImage): return try await render(encodedImage, for: job)
        case .valid:
            let step = timer.step(.network, detail: "unchanged, of which the disk has a placeholder")
            return Output(
                image: displayed,
                source: .network,
                encodedImage: nil,
                steps: [step],
                isUnchanged: true,
                isDerived: true
            )
        }
    }

    /// Returns whether the disk has the image as it is requested, made from the bytes that it knows.
    func hasDerivedImage(for load: Load) async -> Bool {
        guard let disk = derived.disk, mayUseDerivedImages(for: load) else { return false }
        let (key, original) = (load.request.derivedKey, load.request.resourceKey)
        let context = JobContext(priority: load.request.priority)
        guard let entry = try? await disk.derivedEntry(for: key, from: original, context: context) else { return false }
        return usable(entry, for: load) != nil
    }

    private func mayUseDerivedImages(for load: Load) -> Bool {
        let policy = load.policy
        guard load.request.isDerived, !policy.defersDecoding, policy.tiers.allowsDerivedImages,
            policy.access.contains(.readDerived)
        else { return false }
        // Newer bytes may not be on disk yet.
        return dataLoader.activeImages[load.request.dataKey] == nil
    }

    /// A derived image that may be used.
    private struct Found: Sendable {
        var bytes: [UInt8]
        /// `nil` if the application has stored the image.
        let record: DerivedImageRecord?
        var timeToLive: Duration?
        /// The placeholder of bytes that are stale, so that the image may be used after a confirmation only.
        var stalePlaceholder: DiskCache.Entry?

        var detail: String { "derived, \(ByteCount(bytes.count))" }
    }

    /// Returns a derived image if it is that of the bytes which the disk has, and if those need no server.
    ///
    /// One that the application has stored is used until the bytes are replaced.
    private func usable(_ derived: DiskCache.DerivedEntry, for load: Load) -> Found? {
        let (entry, original) = (derived.entry, derived.original)
        let record = DerivedImageRecord(entry.metadata)
        guard let original else {
            guard record == nil else { return nil }
            return Found(bytes: entry.bytes, record: nil, timeToLive: dataLoader.timeToLive(of: entry.metadata))
        }
        if let record {
            let hasFrames = record.isStill || !load.request.options.needsFrames
            guard hasFrames, record.provenance.checksum == original.checksum else { return nil }
        } else {
            // A confirmation, and the first bytes that the disk knows, replace nothing.
            let replacementTime = ResponseRecord(original.metadata).replacementTime
            guard replacementTime.map({ entry.metadata.storageTime >= $0 }) ?? true else { return nil }
        }
        var found = Found(bytes: entry.bytes, record: record, timeToLive: nil)
        switch dataLoader.reuse(of: original.metadata, isExpired: original.isExpired, for: load) {
        case .allowed(let timeToLive): found.timeToLive = timeToLive
        case .afterValidation where original.placeholder != nil && load.policy.tiers.allowsSource:
            found.stalePlaceholder = original.placeholder
        case .afterValidation, .refused: return nil
        }
        return found
    }

    private func rendition(
        of found: Found,
        for load: Load,
        context: JobContext?
    ) throws(EideticError) -> DecodeStage.Rendition {
        let timer = StepTimer()
        let policy = stage.policy(for: load), scale = policy.options.scale
        var options = DecodeOptions()
        (options.frames, options.scale) = (policy.options.frames, scale)
        let decoded = try stage.derivedImage(found.bytes, options: options, by: policy, context: context)
        let image = found.record?.restored(decoded, scale: scale) ?? decoded.replacingScale(scale)
        return DecodeStage.Rendition(image: image, steps: [timer.step(.decode, detail: "derived, \(image.size)")])
    }

    private func output(
        _ rendition: DecodeStage.Rendition,
        of found: Found,
        after step: LoadTrace.Step,
        for load: Load,
        token: RenditionIndex.LoadToken
    ) -> Output {
        token.insert(
            rendition.image,
            for: load.request,
            from: .disk,
            timeToLive: found.timeToLive,
            hasSourceSize: found.record != nil
        )
        return Output(
            image: rendition.image,
            source: .disk,
            encodedImage: nil,
            steps: [step] + rendition.steps,
            isDerived: true
        )
    }
}

extension CachePolicy {
    /// A Boolean value indicating whether an image on disk that was made from fresh bytes may be used.
    fileprivate var allowsDerivedImages: Bool { self != .sourceOnly && !isValidation }
}
