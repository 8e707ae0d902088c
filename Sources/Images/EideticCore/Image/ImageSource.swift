/// The origin of a loaded image.
public enum ImageSource: String, Sendable, Hashable {
    /// The memory cache.
    case memory
    /// The disk cache or another local source: a file, given bytes or a closure.
    case disk
    /// A cache that several machines share, such as one that an `ImageInterceptor` asks.
    case shared
    /// The network.
    case network
}
