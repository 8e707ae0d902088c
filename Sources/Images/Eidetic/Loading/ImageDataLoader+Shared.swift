import EideticCore
import EideticFetch
import EideticHTTP
import EideticStore

/// The shared tier as a stage of a load, between the disk and the source.
extension ImageDataLoader {
    /// The result of a search of the shared tier.
    enum SharedSearch {
        case hit(EncodedImage)
        /// No usable entry; with the lease, if this process is to load from the source, and the step of the trace.
        case miss(HeldLease?, LoadTrace.Step?)
    }

    /// Searches the shared tier, and waits while another machine loads the same image.
    ///
    /// A tier that fails counts as a miss.
    ///
    /// - Parameters:
    ///   - job: The load.
    ///   - step: The step of the trace before this one.
    /// - Returns: The image, or the reason to load it from the source.
    /// - Throws: `cancelled`.
    func sharedLookup(for job: Job, after step: LoadTrace.Step) async throws(EideticError) -> SharedSearch {
        guard let shared, !job.tiers.isValidation, job.load.policy.access.contains(.readShared),
            let key = sharedKey(for: job.load)
        else { return .miss(nil, nil) }
        let timer = StepTimer()
        do throws(EideticError) {
            try await source.downloader.bodyBudget.waitForRoom(for: job.context)
            return try await search(shared, for: key, job: job, after: step, timer: timer)
        } catch {
            // A tier may report a cancellation that nobody has asked for.
            try job.context.checkCancellation()
            Log.write(.debug, category: .store, message: "\(job.request.name): shared tier: \(error)")
            return .miss(nil, timer.step(.shared, detail: "\(error)"))
        }
    }

    private func search(
        _ shared: SharedStage,
        for key: String,
        job: Job,
        after step: LoadTrace.Step,
        timer: StepTimer
    ) async throws(EideticError) -> SharedSearch {
        var lease: SharedLease?, backOff = SharedBackOff()
        while true {
            let (found, held) = try await shared.lookUp(key, leasing: lease)
            if let value = found.value, let entry = await verifiedEntry(in: value, for: key, shared: shared),
                let image = image(of: entry, for: job, after: step, timer: timer)
            {
                held?.end(with: .released)
                return .hit(image)
            }
            switch found.lease {
            case .granted: return .miss(held, timer.step(.shared, detail: "miss, leased"))
            case .waived: return .miss(nil, timer.step(.shared, detail: "miss"))
            case nil:
                // Nobody should wait for a load that shares nothing.
                guard job.tiers.allowsSource, job.load.policy.isShared else {
                    return .miss(nil, timer.step(.shared, detail: "miss"))
                }
                // A lease that waits for the user would hold up other machines.
                try await gate.waitUntilOpen(for: job.context)
                lease = SharedLease(duration: shared.tier.leaseDuration)
            case .held:
                // The other machine may have many downloads to do before this one.
                guard timer.elapsed < SharedStage.waitLimit, job.context.priority < .high else {
                    return .miss(nil, timer.step(.shared, detail: "miss, not waiting for another machine"))
                }
                guard (try? await Task.sleep(for: backOff.next())) != nil else { throw .cancelled }
            }
        }
    }

    /// Verifies a value; one that is damaged, foreign or of another key is removed from the tier.
    private func verifiedEntry(in value: [UInt8], for key: String, shared: SharedStage) async -> DiskCache.Entry? {
        do throws(EideticError) {
            return try await pool.run { _ throws(EideticError) in try SharedEntry.decode(value, expecting: key) }
        } catch {
            guard error.code == .checksumMismatch else { return nil }
            Log.write(.warning, category: .store, message: "removing it: \(error.message)")
            await shared.remove(key, ifEqualTo: value)
            return nil
        }
    }

    /// Returns the image of an entry; `nil` if the entry may not be used without its server.
    private func image(
        of entry: DiskCache.Entry,
        for job: Job,
        after step: LoadTrace.Step,
        timer: StepTimer
    ) -> EncodedImage? {
        let stored = StoredEntry(entry), metadata = entry.metadata
        guard let expiration = metadata.expirationTime, expiration > now else { return nil }
        if let freshness = freshness(of: stored),
            freshness.reuse(at: now, request: job.load.policy.cacheFields) != .fresh
        {
            return nil
        }
        let context = job.context
        return EncodedImage(
            bytes: entry.bytes,
            source: .shared,
            steps: [step, timer.step(.shared, detail: "hit, \(ByteCount(entry.bytes.count))")],
            timeToLive: timeToLive(of: metadata),
            time: source.downloader.configuration.time,
            onReplacement: replacementHandler(for: job.request),
            writer: writer(of: stored, for: job.load),
            share: source.downloader.bodyBudget.makeCompleteShare(of: entry.bytes, for: context),
            sharedEntry: entry
        )
    }

    /// Returns the function that stores an entry of the tier on disk; `nil` if the load stores nothing.
    private func writer(of stored: StoredEntry, for load: Load) -> EncodedImage.Writer? {
        guard let disk, load.policy.writesToDisk, let server = load.server else { return nil }
        var metadata = stored.entry.metadata
        metadata.expirationTime = nil
        var retention = Retention(place: .resource, metadata: metadata, record: stored.record)
        let fields = source.downloader.selectingFields(ofSent: server)
        retention.selection = usesHTTPFreshness ? Vary(metadata.headers).selection(from: fields) ?? "" : ""
        return writer(of: stored.bytes, for: load.request.resourceKey, retention: retention, in: disk)
    }
}

// MARK: Keys
extension ImageDataLoader {
    /// Returns the key of a load in the shared tier; `nil` if its bytes are not for other machines.
    ///
    /// Bytes that depend on cookies, credentials or header fields of the request, on another method than `GET`, on
    /// hooks or a network of the user's own, or on a server whose certificate is not verified, are not. The key
    /// contains a digest of the whole URL, because a `cacheKey` and ignored query items (as signatures) are promises
    /// to this process only; and of what all requests of the downloader have in common: its own fields, by which a
    /// server may select one of several variants, and the servers that it trusts.
    func sharedKey(for load: Load) -> String? {
        let downloader = source.downloader
        guard shared != nil, let server = load.server, server.isAnonymous,
            !downloader.changesFields, downloader.configuration.isWithoutHooks
        else { return nil }
        let fields = downloader.selectingFields(ofSent: server).filter { !$0.isIndifferent }
        guard !fields.contains(where: \.isCredential) else { return nil }
        let lines = fields.map { "\($0.name.lowercasedASCII): \($0.value)" } + downloader.configuration.trustLines
        let text = (lines.sorted() + [server.url]).joined(separator: "\n")
        return "\(load.request.resourceKey)\nrequest:\(Digest(sha256: Array(text.utf8)).hexadecimal)"
    }
}

extension Downloader.Configuration {
    /// A Boolean value indicating whether bytes arrive as their server has sent them.
    fileprivate var isWithoutHooks: Bool { responseModifier == nil && decryptor == nil && network == nil }

    /// The settings that determine which servers are trusted; none by default.
    fileprivate var trustLines: [String] {
        let pins = pinnedPublicKeys.map { "pin \($0.key) \($0.value.sorted().joined(separator: " "))" }
        let authority = certificateAuthorityFile.map { ["authority \($0)"] } ?? []
        return pins + authority + (refusesPrivateNetworks ? ["public"] : [])
    }
}

extension FetchRequest {
    /// A Boolean value indicating whether nothing in the request depends on who sends it, and its server is verified.
    fileprivate var isAnonymous: Bool {
        isGet && credentials == nil && !usesCookies && !allowsInvalidCertificates
            && headers.fields.allSatisfy { CacheControl.isRequestField($0.name) }
    }
}

extension HTTPField {
    /// A Boolean value indicating whether the field is no part of a shared key: the bytes are stored without content
    /// coding, and responses that depend on the program's name are not shared.
    fileprivate var isIndifferent: Bool {
        ["user-agent", "accept-encoding"].contains(name.lowercasedASCII) || CacheControl.isRequestField(name)
    }

    /// A Boolean value indicating whether the name tells that the value is a secret, as that of `X-Api-Key` does.
    fileprivate var isCredential: Bool {
        let name = name.lowercasedASCII
        return ["auth", "cookie", "token", "key", "secret", "session"].contains { name.contains($0) }
    }
}
