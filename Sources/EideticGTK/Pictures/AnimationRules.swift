#if GTK
/// How animated pictures play in a widget.
public struct AnimationRules: Sendable, Hashable {
    /// How often an animation plays.
    public enum Loops: Sendable, Hashable {
        /// As often as the picture says.
        case asPictured
        /// For ever.
        case forever
        /// So many times; at least once.
        case times(Int)
    }

    /// How fast it plays: 1, the default, is the picture's own speed; 0 holds it still.
    public var speed: Double

    /// How often it plays; by default as often as the picture says.
    public var loops: Loops

    /// Creates rules; the defaults are the picture's own.
    public init(speed: Double = 1, loops: Loops = .asPictured) {
        self.speed = speed
        self.loops = loops
    }

    func loopCount(_ pictured: Int?) -> Int? {
        switch loops {
        case .asPictured: pictured
        case .forever: nil
        case .times(let count): max(1, count)
        }
    }
}
#endif
