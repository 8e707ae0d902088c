import EideticCodecs
import EideticCore
import Glibc

/// JPEG photographs of about two megapixels, derived from installed desktop backgrounds.
///
/// They are stored in the temporary directory and reused, since creating them takes longer than the measurements.
struct Photographs {
    /// The directory of the photographs.
    let directory: String
    /// The file names.
    let names: [String]

    /// Files of Debian's packages mate-backgrounds and gnome-backgrounds.
    private static let sources = [
        "mate/abstract/Elephants_3840x2160.jpg", "mate/nature/Aqua.jpg", "mate/nature/Dune.jpg",
        "mate/nature/FreshFlower.jpg", "mate/nature/LadyBird.jpg", "mate/nature/RainDrops.jpg", "mate/nature/Storm.jpg",
        "mate/nature/TwoWings.jpg", "mate/nature/YellowFlower.jpg",
    ]

    /// Creates `count` photographs, or reuses those of an earlier run.
    init(count: Int) throws {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        directory = "\(parent)/eidetic-photographs-\(getuid())-\(count)"
        names = (0..<count).map { "\($0).jpg" }
        let files = FileSystem()
        if (try? files.status(of: "\(directory)/complete")) != nil { return }
        try files.makeDirectories(directory)
        for (index, image) in try Self.sourceImages().enumerated() {
            for number in stride(from: index, to: count, by: Self.sources.count) {
                let bytes = try Self.jpeg(of: image, number: number)
                try Self.write(bytes, to: "\(directory)/\(number).jpg")
            }
        }
        try Self.write([], to: "\(directory)/complete")
    }

    private static func write(_ bytes: [UInt8], to path: String) throws(SystemError) {
        let files = FileSystem()
        let file = try files.open(path, flags: O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
        try bytes.span.withUnsafeBytes { bytes throws(SystemError) in try files.write(bytes, to: file) }
    }

    /// Decodes the installed backgrounds to a little more than two megapixels; falls back to a synthetic photograph.
    private static func sourceImages() throws -> [Image] {
        var options = DecodeOptions()
        options.size = PixelSize(width: 1_800, height: 1_800)
        var found: [Image] = []
        for name in sources {
            guard let bytes = try? FileSystem().contents(of: "/usr/share/backgrounds/\(name)") else { continue }
            found.append(try ImageDecoder.decode(bytes, options: options))
        }
        guard found.isEmpty else { return found }
        let size = PixelSize(width: 1_920, height: 1_440)
        return [try ImageDecoder.decode(try SyntheticPhotograph.jpeg(size: size))]
    }

    /// Encodes an image at a size that depends on `number`, so that no two files have the same bytes.
    private static func jpeg(of image: Image, number: Int) throws -> [UInt8] {
        let scale = (2_000_000.0 / Double(image.size.pixelCount)).squareRoot() * (1 - Double(number % 40) / 2_000)
        let size = PixelSize(
            width: Int(Double(image.size.width) * min(1, scale)),
            height: Int(Double(image.size.height) * min(1, scale))
        )
        let pixels = try Resampler.resample(image.pixels, to: size)
        let resized = Image(frames: [Image.Frame(pixels: pixels)], format: .jpeg, sourceSize: size)
        return try ImageEncoder.encode(resized, as: .jpeg, quality: 0.88)
    }
}
