import Eidetic
import EideticCodecs
import EideticCLI
import EideticCore

/// The options that change pixels: of `load` and of `convert`.
enum RenderingOptions {
    static let fill = Option(name: "fill", help: "fill the size of --size, and crop the rest")

    static let stretch = Option(name: "stretch", help: "distort images to the proportions of --size")

    static let focus = TypedOption<CropFocus>(
        "focus",
        placeholder: "X,Y|content",
        expecting: "two numbers from 0 to 1 such as 0.5,0.3, or content",
        help:
            "the point that --fill keeps in view, as fractions of width and height (default: 0.5,0.5), or \"content\": edges, "
            + "colours and skin",
        completion: .words(["content"]),
        parse: { text in
            if text == "content" { return .content }
            let numbers = text.split(separator: ",", omittingEmptySubsequences: false).compactMap { Double($0) }
            guard numbers.count == 2, numbers.allSatisfy((0...1).contains) else { return nil }
            return .point(x: numbers[0], y: numbers[1])
        }
    )

    static let crop = TypedOption<PixelRect>(
        "crop",
        placeholder: "WxH+X+Y",
        expecting: "a size and a position such as 640x480+10+20",
        help: "cut this rectangle out of each image before anything else",
        parse: { PixelRect(parsing: $0) }
    )

    static let round = TypedOption<Double>(
        "round",
        placeholder: "RADIUS",
        expecting: "a number of pixels",
        help: "make the corners round, after all other changes",
        parse: { text in Double(text).flatMap { (0...1e6).contains($0) ? $0 : nil } }
    )

    static let transform = TypedOption<any ImageTransform>(
        "transform",
        placeholder: "CHANGE",
        expecting: "a change such as blur=8",
        help: "change each image after --size; can be repeated: \(TransformArgument.synopses.joined(separator: ", "))",
        completion: .words(TransformArgument.names),
        parse: { TransformArgument.transform($0) }
    )

    static let partial = Option(
        name: "partial",
        help: "show the decodable part of damaged and truncated images, and report it"
    )

    /// All of these options, in the order of the help texts.
    static let all = [
        CommonOptions.size.definition, fill, stretch, focus.definition, crop.definition, transform.definition,
        round.definition, partial,
    ]

    /// Returns the reason why options cannot be combined; `nil` if they can.
    static func problem(in arguments: Arguments) -> String? {
        let modes = [fill, stretch].filter(arguments.contains).map(\.name)
        if modes.count == 2 { return "--fill and --stretch cannot be combined" }
        if let mode = modes.first, arguments[CommonOptions.size] == nil { return "--\(mode) requires --size" }
        return arguments[focus] != nil && !arguments.contains(fill) ? "--focus requires --fill" : nil
    }

    /// Returns the size and the changes on a command line.
    static func rendering(from arguments: Arguments) -> ImageRequest.Rendering {
        var rendering = ImageRequest.Rendering(size: arguments[CommonOptions.size])
        if arguments.contains(stretch) { rendering.contentMode = .stretch }
        if arguments.contains(fill) { rendering.contentMode = .fillCropped(focus: arguments[focus] ?? .center) }
        var transforms = arguments.values(of: transform)
        if let area = arguments[crop] {
            // The size is that of what was cut out.
            if let size = rendering.size { transforms.insert(resizing(to: size, as: rendering), at: 0) }
            transforms.insert(ImageTransforms.Crop(area), at: 0)
            rendering.size = nil
        }
        if let radius = arguments[round] { transforms.append(ImageTransforms.RoundedCorners(radius: radius)) }
        rendering.transform = transforms.isEmpty ? nil : TransformChain(transforms)
        return rendering
    }

    private static func resizing(to size: PixelSize, as rendering: ImageRequest.Rendering) -> any ImageTransform {
        ImageTransforms.Resize(size, contentMode: rendering.contentMode)
    }
}
