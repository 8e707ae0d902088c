/// The origin of a loaded image.
public enum ImageSource: String, Sendable, Hashable {
    /// The memory cache.
    case memory
    /// The disk cache or another local source: a file, given bytes or a closure.
    case disk
    /// The cache tier that several machines share.
    case shared
    /// The network.
    case network
}
