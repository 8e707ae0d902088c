import EideticCore
import EideticFetch
import EideticHTTP
import EideticStore

/// The shared tier as a stage of a load, between the disk and the source, with the background task that covers what is
/// stored in it.
struct SharedStage: DataStage {
    /// The longest time for which a load waits until another machine has stored an image; then it loads it itself.
    static let waitLimit: Duration = .seconds(30)
    /// The time for which machines need no lease for an image that cannot be shared.
    static let unsharedInterval: Duration = .seconds(60)
    /// The time for which machines need no lease for an image whose load has failed.
    static let failureInterval: Duration = .seconds(1)

    let tier: any SharedTier
    let work: BackgroundWorkGroup
    let pool: WorkPool
    private let disk: DiskStage
    private let renditions: RenditionIndex
    private let gate: InteractionGate

    init?(
        _ configuration: ImagePipeline.Configuration,
        disk: DiskStage,
        renditions: RenditionIndex,
        gate: InteractionGate
    ) {
        guard let tier = configuration.sharedTier else { return nil }
        self.tier = tier
        work = BackgroundWorkGroup(named: "eidetic shared tier", provider: configuration.environment)
        pool = disk.pool
        self.disk = disk
        self.renditions = renditions
        self.gate = gate
    }

    /// Searches the shared tier, and waits while another machine loads the same image.
    ///
    /// A tier that fails counts as a miss.
    nonisolated(nonsending) func find(_ job: DataJob, after search: DataSearch) async throws(EideticError) -> DataLookup
    {
        guard !job.tiers.isValidation, job.reads.contains(.shared), let key = key(for: job.load) else {
            return .missing(search)
        }
        let timer = StepTimer()
        func miss(_ detail: String, lease: HeldLease? = nil) -> DataLookup {
            .missing(search.adding(timer.step(.shared, detail: detail), lease: lease))
        }
        do throws(EideticError) {
            try await disk.downloader.bodyBudget.waitForRoom(for: job.context)
            var lease: SharedLease?, backOff = SharedBackOff()
            while true {
                let (found, held) = try await lookUp(key, leasing: lease)
                if let value = found.value,
                    let entry = await verifiedEntry(in: value, for: key, name: job.request.name),
                    let image = image(of: entry, for: job, after: search, timer: timer)
                {
                    held?.end(with: .released)
                    return .found(image)
                }
                switch found.lease {
                case .granted: return miss("miss, leased", lease: held)
                case .waived: return miss("miss")
                case nil:
                    // Nobody should wait for a load that shares nothing.
                    guard job.tiers.allowsSource, job.load.policy.isShared else { return miss("miss") }
                    // A lease that waits for the user would hold up other machines.
                    try await gate.waitUntilOpen(for: job.context)
                    lease = SharedLease(duration: tier.leaseDuration)
                case .held:
                    // The other machine may have many downloads to do before this one.
                    guard timer.elapsed < Self.waitLimit, job.context.priority < .high else {
                        return miss("miss, not waiting for another machine")
                    }
                    guard (try? await Task.sleep(for: backOff.next())) != nil else { throw EideticError.cancelled }
                }
            }
        } catch {
            // A tier may report a cancellation that nobody has asked for.
            try job.context.checkCancellation()
            Log.write(.debug, category: .store, message: "\(job.request.name): shared tier: \(error)")
            return miss("\(error)")
        }
    }

    /// Searches a value, and tries to acquire a lease; it is released after a cancellation or another error, because
    /// the server may have granted it all the same.
    private func lookUp(
        _ key: String,
        leasing lease: SharedLease?
    ) async throws(EideticError) -> (SharedLookup, HeldLease?) {
        do throws(EideticError) {
            let found = try await tier.lookUp(key, leasing: lease)
            return (found, found.lease == .granted ? lease.map { HeldLease($0, key: key, tier: tier) } : nil)
        } catch {
            if let lease { HeldLease(lease, key: key, tier: tier).end(with: .released) }
            throw error
        }
    }

    /// Verifies a value; one that is damaged, foreign or of another key is removed from the tier.
    private func verifiedEntry(in value: [UInt8], for key: String, name: String) async -> DiskCache.Entry? {
        do throws(EideticError) {
            return try await pool.run { _ throws(EideticError) in try SharedEntry.decode(value, expecting: key) }
        } catch {
            guard error.code == .checksumMismatch else { return nil }
            Log.write(.warning, category: .store, message: "\(name): removing the \(error.message)")
            await remove(key, ifEqualTo: value)
            return nil
        }
    }

    /// Returns the image of an entry; `nil` if the entry may not be used without its server.
    private func image(
        of entry: DiskCache.Entry,
        for job: DataJob,
        after search: DataSearch,
        timer: StepTimer
    ) -> EncodedImage? {
        let stored = StoredEntry(entry)
        let rules = disk.rules
        let now = rules.now
        guard let expiration = entry.metadata.expirationTime, expiration > now else { return nil }
        if let freshness = rules.freshness(of: stored),
            freshness.reuse(at: now, request: job.load.policy.cacheFields) != .fresh
        {
            return nil
        }
        let step = timer.step(.shared, detail: "hit, \(ByteCount(entry.bytes.count))")
        var facts = EncodedImage.Facts()
        facts.freshness = EncodedImage.Freshness(rules.timeToLive(of: entry.metadata), time: rules.time)
        facts.fields = stored.fields
        facts.sharedEntry = entry
        let image = EncodedImage(entry.bytes, from: .shared, steps: search.steps + [step], facts: facts)
        let plan = StoragePlan(
            for: image,
            changes: changes(by: stored, for: job.load),
            on: disk,
            replacement: renditions.replacement(of: job.request, by: image.provenance),
            share: disk.downloader.bodyBudget.makeCompleteShare(of: entry.bytes, for: job.context)
        )
        return plan.image
    }

    /// Returns the change that stores an entry of the tier on disk; none if the load stores nothing.
    private func changes(by stored: StoredEntry, for load: Load) -> [StoragePlan.DiskChange] {
        guard disk.disk != nil, load.policy.writesToDisk, let server = load.server else { return [] }
        var metadata = stored.entry.metadata
        metadata.expirationTime = load.request.cachePolicy.expirationTime(at: disk.rules.now)
        var retention = Retention(metadata: metadata)
        let fields = disk.downloader.fields.selectingFields(ofSent: server)
        retention.selection = disk.rules.isHTTP ? Vary(metadata.headers).selection(from: fields) ?? "" : ""
        return [.insert(key: load.request.resourceKey, retention)]
    }

    /// Removes a value that proved to be unusable; a failure is logged.
    func remove(_ key: String, ifEqualTo value: [UInt8]?) async {
        do throws(EideticError) { try await tier.remove(key, ifEqualTo: value) } catch {
            Log.write(.debug, category: .store, message: "shared entry not removed: \(error)")
        }
    }

    /// Removes the entry that had bytes which proved to be broken.
    func discard(_ entry: DiskCache.Entry) async {
        let value = try? await pool.run { _ in SharedEntry.encode(entry) }
        guard let value else { return }
        await remove(entry.key, ifEqualTo: value)
    }
}

extension DataSearch {
    /// Returns the search after one more step.
    fileprivate func adding(_ step: LoadTrace.Step, lease: HeldLease? = nil) -> DataSearch {
        var search = self
        search.steps.append(step)
        search.lease = lease
        return search
    }
}

/// An entry for the shared tier.
struct SharedPublication: Sendable {
    let entry: DiskCache.Entry
    /// The time for which other machines may use it.
    let timeToLive: Duration
    let stage: SharedStage

    /// Stores the entry, unless `work` is `nil` for want of background time, and ends the lease.
    func perform(within work: BackgroundWork?, endingLease lease: HeldLease?) async {
        defer { work?.end() }
        var end = SharedLease.Change.waived(SharedStage.failureInterval)
        do throws(EideticError) {
            if work != nil {
                let value = try await stage.pool.run { _ throws(EideticError) in SharedEntry.encode(entry) }
                try await stage.tier.insert(value, for: entry.key, timeToLive: timeToLive)
                end = .released
            }
        } catch {
            Log.write(.debug, category: .store, message: "not shared: \(error)")
        }
        await lease?.end(with: end)?.value
    }
}

// MARK: Keys
extension SharedStage {
    /// Returns the key of a load in the shared tier; `nil` if its bytes are not for other machines.
    ///
    /// Bytes that depend on cookies, credentials or header fields of the request, on another method than `GET`, on
    /// hooks or a network of the user's own, or on a server whose certificate is not verified, are not. The key
    /// contains a digest of the whole URL, because a `cacheKey` and ignored query items (as signatures) are promises
    /// to this process only; and of what all requests of the downloader have in common: its own fields, by which a
    /// server may select one of several variants, and the servers that it trusts.
    func key(for load: Load) -> String? {
        let downloader = disk.downloader
        guard let server = load.server, server.isAnonymous,
            !downloader.changesFields, downloader.configuration.isWithoutHooks
        else { return nil }
        let fields = downloader.fields.selectingFields(ofSent: server).filter { !$0.isIndifferent }
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

/// A lease that this process holds: renewed until it is ended, or the last load that needs it is gone.
final class HeldLease: Sendable {
    private let lease: SharedLease
    private let key: String
    private let tier: any SharedTier
    private let renewal: Task<Void, Never>
    private let isEnded = Guarded(false)

    init(_ lease: SharedLease, key: String, tier: any SharedTier) {
        self.lease = lease
        self.key = key
        self.tier = tier
        renewal = Task.detached {
            while (try? await Task.sleep(for: max(lease.duration / 3, .milliseconds(1)))) != nil {
                try? await tier.update(lease, of: key, to: .renewed)
            }
        }
    }

    deinit { end(with: .released) }

    /// Ends the lease, once; returns at once, with the task that does it.
    @discardableResult
    func end(with change: SharedLease.Change) -> Task<Void, Never>? {
        guard !isEnded.withLock({ exchange(&$0, with: true) }) else { return nil }
        renewal.cancel()
        return Task.detached { [lease, key, tier, renewal] in
            // A renewal that is on its way has no effect after the end.
            await renewal.value
            try? await tier.update(lease, of: key, to: change)
        }
    }
}

/// The delays between two searches of a load that waits for another machine.
struct SharedBackOff {
    private static let longest: Duration = .milliseconds(100)
    private var delay: Duration = .milliseconds(4)

    /// Returns the next delay: up to twice as long as the one before, and at random, so that machines do not search in
    /// step.
    mutating func next() -> Duration {
        defer { delay = min(delay * 2, Self.longest) }
        return delay * Double.random(in: 0.5...1)
    }
}
