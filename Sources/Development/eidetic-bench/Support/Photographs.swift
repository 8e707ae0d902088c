import EideticCodecs
import EideticCore
import Glibc

/// JPEG photographs of about two megapixels, derived from the installed desktop backgrounds, or from a synthetic one.
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

    /// Creates `count` photographs, or reuses those of an earlier run with the same sources.
    init(count: Int) throws {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        let installed = Self.sources.filter { (try? FileSystem().status(of: Self.path(of: $0))) != nil }
        directory = "\(parent)/eidetic-photographs-\(getuid())-\(count)-of-\(installed.count)"
        names = (0..<count).map { "\($0).jpg" }
        if (try? FileSystem().status(of: directory)) == nil { try create(from: Self.images(of: installed)) }
    }

    /// Writes the photographs to a temporary directory, and renames it when all of them are there.
    private func create(from images: [Image]) throws {
        let (files, unfinished) = (FileSystem(), "\(directory).\(getpid())")
        try files.makeDirectories(unfinished)
        for (number, name) in names.enumerated() {
            let bytes = try Self.jpeg(of: images[number % images.count], number: number)
            try Self.write(bytes, to: "\(unfinished)/\(name)")
        }
        try files.rename(unfinished, to: directory)
    }

    private static func write(_ bytes: [UInt8], to path: String) throws(SystemError) {
        let files = FileSystem()
        let file = try files.open(path, flags: O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
        try bytes.span.withUnsafeBytes { bytes throws(SystemError) in try files.write(bytes, to: file) }
    }

    private static func path(of source: String) -> String { "/usr/share/backgrounds/\(source)" }

    /// Decodes backgrounds to a little more than two megapixels; returns a synthetic photograph if there are none.
    private static func images(of sources: [String]) throws -> [Image] {
        guard !sources.isEmpty else {
            let size = PixelSize(width: 1_920, height: 1_440)
            return [try ImageDecoder.decode(try SyntheticPhotograph.jpeg(size: size))]
        }
        var options = DecodeOptions()
        options.size = PixelSize(width: 1_800, height: 1_800)
        return try sources.map { try ImageDecoder.decode(FileSystem().contents(of: path(of: $0)), options: options) }
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
