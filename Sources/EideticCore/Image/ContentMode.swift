/// The way in which an image is scaled to a target size; its aspect ratio is always preserved.
public enum ContentMode: String, Hashable, Sendable {
    /// The whole image is visible: neither side is longer than the target's.
    case fit
    /// The target is covered: neither side is shorter than the target's, unless the image is smaller.
    case fill
}
