import EideticCore
import EideticFetch
import EideticHTTP
import EideticStore

/// The storing of loaded images in the shared tier.
extension ImageDataLoader {
    /// Returns the function that stores new or confirmed bytes in the shared tier, and ends the lease; `nil` if they
    /// are not for other machines.
    func publisher(
        of fetched: Fetched,
        retention: Retention,
        for load: Load,
        lease: HeldLease?
    ) -> EncodedImage.Publisher? {
        guard let shared, load.policy.isShared, let key = sharedKey(for: load),
            let timeToLive = sharedTimeToLive(of: fetched, retention: retention),
            fetched.bytes.count + SharedEntry.overhead <= shared.tier.valueLimit.bytes
        else {
            lease?.end(with: .waived(SharedStage.unsharedInterval))
            return nil
        }
        var metadata = retention.metadata
        (metadata.storageTime, metadata.expirationTime) = (now, now + timeToLive)
        metadata.extendedData = retention.record.encoded
        let entry = DiskCache.Entry(key: key, bytes: fetched.bytes, metadata: metadata)
        return { [pool] in
            // From now on it is covered; without background time left it is not stored.
            let work = try? shared.work.begin()
            return {
                defer { work?.end() }
                let isPublished =
                    work == nil ? false : await Self.publish(entry, for: timeToLive, in: shared.tier, pool: pool)
                await lease?.end(with: isPublished ? .released : .waived(SharedStage.failureInterval))?.value
            }
        }
    }

    /// Stores an entry; returns `false` if the tier has refused it.
    private static func publish(
        _ entry: DiskCache.Entry,
        for timeToLive: Duration,
        in tier: any SharedTier,
        pool: WorkPool
    ) async -> Bool {
        do throws(EideticError) {
            let value = try await pool.run { _ throws(EideticError) in SharedEntry.encode(entry) }
            try await tier.insert(value, for: entry.key, timeToLive: timeToLive)
            return true
        } catch {
            Log.write(.debug, category: .store, message: "not shared: \(error)")
            return false
        }
    }

    /// Returns the time for which other machines may use a response; `nil` if they may not.
    ///
    /// - SeeAlso: RFC 9111, sections 3 and 5.2.2.10.
    private func sharedTimeToLive(of fetched: Fetched, retention: Retention) -> Duration? {
        // Another status may be acceptable to this program only.
        guard case .resource = retention.place, let origin = fetched.response.origin,
            (200..<300).contains(fetched.final.status),
            ([fetched.final] + fetched.redirects + origin.responses).allSatisfy(\.isForSharedCaches)
        else { return nil }
        var timeToLive = retention.timeToLive ?? disk?.configuration.maximumAge ?? .seconds(7 * 24 * 3_600)
        // A pipeline may ignore freshness for its own caches, and not for those of other machines.
        for response in [fetched.final] + fetched.redirects where response.statesLifetime {
            timeToLive = min(timeToLive, remainder(of: ResponseFreshness(response)))
        }
        if let sharedMaxAge = CacheControl(fetched.final.fields).sharedMaxAge {
            let age = ResponseFreshness(fetched.final).currentAge(at: now)
            timeToLive = min(timeToLive, .seconds(sharedMaxAge) - age)
        }
        return timeToLive >= .seconds(1) ? timeToLive : nil
    }
}

extension ResponseFreshness.Response {
    /// A Boolean value indicating whether the server says for how long the response is fresh.
    fileprivate var statesLifetime: Bool {
        CacheControl(fields).maxAge != nil || !fields.values(of: "expires").isEmpty
    }

    /// A Boolean value indicating whether caches that several users share may store the response.
    fileprivate var isForSharedCaches: Bool {
        let control = CacheControl(fields), unsharedNames: Set = ["user-agent", "cookie", "authorization"]
        return !control.isPrivate && !control.noStore && !control.noCache && fields.values(of: "set-cookie").isEmpty
            && Vary(fields) != .everything && Vary(fields).names.isDisjoint(with: unsharedNames)
    }
}
