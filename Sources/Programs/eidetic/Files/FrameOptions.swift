import EideticCLI

/// The options of `convert` for the frames of animations.
enum FrameOptions {
    static let frame = TypedOption<Int>(
        "frame",
        in: 1...Int.max,
        expecting: "a number from 1",
        help: "write only this frame of an animation; 1 is the first one"
    )

    static let frames = Option(name: "frames", help: "write each frame to a file of its own: OUT-1, OUT-2, …")

    static let animate = TypedOption<Duration>(
        "animate",
        placeholder: "MS",
        expecting: "a number of milliseconds from 1 to 60000",
        help: "join all images IN into one animation OUT, showing each for this time",
        parse: { text in Int(text).flatMap { (1...60_000).contains($0) ? .milliseconds($0) : nil } }
    )

    static let loop = TypedOption<Int>(
        "loop",
        in: 0...65_535,
        help: "how often an animation plays; 0 is forever (default: unchanged; 0 with --animate)"
    )

    /// All of these options, in the order of the help texts.
    static let all = [frame.definition, frames, animate.definition, loop.definition]

    /// Returns the reason why options cannot be combined; `nil` if they can.
    static func problem(in arguments: Arguments) -> String? {
        let names = [frame.definition, frames, animate.definition].filter(arguments.contains).map(\.name)
        return names.count > 1 ? "--\(names[0]) and --\(names[1]) cannot be combined" : nil
    }
}
