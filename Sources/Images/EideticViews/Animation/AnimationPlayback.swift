/// The way in which an animation plays.
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

    /// The order of the frames.
    ///
    /// While frames are still arriving, every animation plays forward.
    public enum Order: Sendable, Hashable {
        /// From the first frame to the last.
        case forward
        /// From the last frame to the first.
        case reverse
        /// To the last frame and back to the first, which together are one loop; both are shown once at each turn.
        case bounce
    }

    /// The factor of the image's own speed: 1 by default; 0 pauses the animation.
    ///
    /// Values are limited to the range from 0.001 to 1,000; one that is negative or no finite number counts as 0.
    public var speed: Double

    /// The number of times that the animation plays; the encoded image's own by default.
    public var loops: Loops

    /// The order of the frames; forward by default.
    public var order: Order

    /// Creates a playback; by default at the speed, with the loops and in the order of the encoded image.
    public init(speed: Double = 1, loops: Loops = .asEncoded, order: Order = .forward) {
        self.speed = speed
        self.loops = loops
        self.order = order
    }

    /// The speed within its range.
    var limitedSpeed: Double { speed.isFinite && speed > 0 ? min(max(speed, 0.001), 1_000) : 0 }

    func loopCount(encoded: Int?) -> Int? {
        switch loops {
        case .asEncoded: encoded
        case .forever: nil
        case .times(let count): max(1, count)
        }
    }
}
