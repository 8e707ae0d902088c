import EideticCore

/// The rules for the ages at which entries of a cache expire.
struct EntryAges: Sendable {
    /// The age at which entries without an expiration time of their own expire.
    let maximumAge: Duration
    /// The event from which the age counts.
    let basis: DiskCache.Configuration.AgeBasis
    /// A Boolean value indicating whether a read cannot extend the life of an entry, because nothing is written.
    let isReadOnly: Bool

    init(_ configuration: DiskCache.Configuration) {
        maximumAge = configuration.maximumAge
        basis = configuration.ageBasis
        isReadOnly = configuration.isReadOnly
    }

    /// Returns the expiration time of an entry whose file was last modified at `modified`.
    func expirationTime(of metadata: DiskCache.Metadata, modified: Timestamp) -> Timestamp {
        if let expirationTime = metadata.expirationTime { return expirationTime }
        let start = basis == .access ? max(metadata.storageTime, modified) : metadata.storageTime
        return start + maximumAge
    }

    /// Returns `true` if an entry has expired.
    ///
    /// An entry stored further in the future than its maximum age has expired too: the clock was wrong when it was
    /// written.
    func isExpired(_ metadata: DiskCache.Metadata, modified: Timestamp, at now: Timestamp) -> Bool {
        expirationTime(of: metadata, modified: modified) <= now
            || metadata.expirationTime == nil && metadata.storageTime > now + maximumAge
    }

    /// Returns `true` if each use of an entry extends its life.
    func isExtendedByUse(_ metadata: DiskCache.Metadata) -> Bool {
        basis == .access && metadata.expirationTime == nil && !isReadOnly
    }

    /// Returns the time until an entry that is read or written now expires; zero for an expired one.
    ///
    /// A storage time of zero stands for the current time.
    func timeToLive(of metadata: DiskCache.Metadata, at now: Timestamp) -> Duration {
        if let expirationTime = metadata.expirationTime { return max(.zero, expirationTime - now) }
        let isNew = isExtendedByUse(metadata) || metadata.storageTime.nanoseconds == 0
        return max(.zero, (isNew ? now : metadata.storageTime) + maximumAge - now)
    }

    /// Returns metadata that replace others of the same bytes: if ages count from the write, they do not extend the
    /// entry's life.
    func replacement(_ new: DiskCache.Metadata, for old: DiskCache.Metadata, at now: Timestamp) -> DiskCache.Metadata {
        var metadata = new
        if metadata.storageTime.nanoseconds == 0 { metadata.storageTime = now }
        guard basis == .creation, metadata.expirationTime == nil else { return metadata }
        // Not later than for an entry stored now: the clock may have been ahead at the time of the write.
        let expirationTime = expirationTime(of: old, modified: old.storageTime)
        metadata.expirationTime = min(expirationTime, metadata.storageTime + maximumAge)
        return metadata
    }
}
