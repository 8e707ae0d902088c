#if GTK
/// The playback of animated images in a widget.
public struct AnimationPlayback: Sendable, Hashable {
    /// A number of times that an animation plays.
    public enum Loops: Sendable, Hashable {
        /// The number that the encoded image contains.
        case asEncoded
        /// Without end.
        case forever
        /// A given number, at least once.
        case times(Int)
    }

    /// The factor of the image's own speed: 1 by default; 0 pauses the animation.
    public var speed: Double

    /// The number of times that the animation plays; the encoded image's own by default.
    public var loops: Loops

    /// Creates a playback; by default at the speed and with the loops of the encoded image.
    public init(speed: Double = 1, loops: Loops = .asEncoded) {
        self.speed = speed
        self.loops = loops
    }

    func loopCount(encoded: Int?) -> Int? {
        switch loops {
        case .asEncoded: encoded
        case .forever: nil
        case .times(let count): max(1, count)
        }
    }
}
#endif
