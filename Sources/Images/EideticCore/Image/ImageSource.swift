/// The origin of a loaded image.
public enum ImageSource: Sendable, Hashable {
    /// The memory cache.
    case memory
    /// The disk cache, a file, or given bytes.
    case disk
    /// A function of the program: the provider of a request, or the source of an own URL scheme.
    case provider
    /// A cache that several machines share, also one that an `ImageInterceptor` uses.
    case shared
    /// The network.
    case network
}
