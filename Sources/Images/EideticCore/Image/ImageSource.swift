/// The origin of a loaded image.
public enum ImageSource: Sendable, Hashable {
    /// The memory cache.
    case memory
    /// The disk cache or another local source: a file, given bytes or a closure.
    case disk
    /// A cache that several machines share, also one that an `ImageInterceptor` uses.
    case shared
    /// The network.
    case network
}
