/// The reason why a value was removed from a memory cache.
public enum MemoryRemovalReason: Int, Sendable, Hashable, CaseIterable {
    /// The total cost exceeded the limit.
    case costLimit
    /// The number of values exceeded the limit.
    case countLimit
    /// Memory was short, or the application entered the background.
    case pressure
    /// The value's time to live ended.
    case expired
    /// Another value was inserted for the key.
    case replaced
    /// A caller removed the value.
    case removed
    /// A caller trimmed the cache to a cost or a date.
    case trimmed

    /// A Boolean value indicating whether the value was removed only to make room.
    var isEviction: Bool {
        switch self {
        case .costLimit, .countLimit, .pressure, .trimmed: true
        case .expired, .replaced, .removed: false
        }
    }
}
