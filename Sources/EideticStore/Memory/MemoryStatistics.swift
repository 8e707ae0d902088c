/// What a memory cache has done since it was made.
public struct MemoryStatistics: Sendable, Hashable {
    /// Look-ups that found a value.
    public var hits = 0
    /// Look-ups that found none.
    public var misses = 0
    /// Values put in, those that replaced another included.
    public var insertions = 0
    /// Values that were not taken because they alone are larger than the limit.
    public var rejections = 0
    /// Hits on values that were evicted, but were still in use elsewhere.
    public var revivals = 0
    /// Look-ups that turned out to be hits, less those that turned out to be misses, after they were counted.
    var hitCorrection = 0
    // One number for each reason, in the order of `allCases`.
    private var removals: SIMD8<Int> = .zero

    /// Creates statistics in which nothing has happened.
    public init() {}

    /// The part of all look-ups that found a value; 0 where there were none.
    public var hitRatio: Double { hits + misses == 0 ? 0 : Double(hits) / Double(hits + misses) }

    /// How many values went for one reason.
    public func removals(for reason: MemoryRemovalReason) -> Int { removals[reason.rawValue] }

    @usableFromInline
    mutating func recordRemoval(_ reason: MemoryRemovalReason) { removals[reason.rawValue] += 1 }
}

/// Why a value left the memory cache.
public enum MemoryRemovalReason: Int, Sendable, Hashable, CaseIterable {
    /// There were more bytes than the limit allows.
    case costLimit
    /// There were more entries than the limit allows.
    case countLimit
    /// Memory was short, or the application went into the background.
    case pressure
    /// Its time to live was over.
    case expired
    /// Another value was put in for its key.
    case replaced
    /// The caller asked for it.
    case removed
    /// The caller asked for fewer bytes, or for nothing older than a date.
    case trimmed

    /// Whether it went only for want of room.
    var isEviction: Bool {
        switch self {
        case .costLimit, .countLimit, .pressure, .trimmed: true
        case .expired, .replaced, .removed: false
        }
    }
}
