import EideticCodecs
import EideticCore
import EideticSandbox
import Glibc

/// The programs of the build.
enum Programs {
    /// Returns the path of an executable beside this test bundle.
    static func path(of program: String) -> String {
        let own = realpath(CommandLine.arguments[0], nil).map { String(cString: $0) } ?? CommandLine.arguments[0]
        return "\(own.lastIndex(of: "/").map { String(own[..<$0]) } ?? ".")/\(program)"
    }

    /// A pool of real decoding processes.
    static func pool(_ change: (inout HelperPool.Settings) -> Void = { _ in }) -> HelperPool {
        pool(HelperProgram(path: path(of: "eidetic-decode")), change)
    }

    /// A pool of processes that are taken over.
    static func pool(attack: String, _ change: (inout HelperPool.Settings) -> Void = { _ in }) -> HelperPool {
        pool(HelperProgram(path: path(of: "EideticDecodeProbe"), arguments: [attack]), change)
    }

    private static func pool(_ program: HelperProgram, _ change: (inout HelperPool.Settings) -> Void) -> HelperPool {
        var settings = HelperPool.Settings()
        settings.programs = { [program] }
        change(&settings)
        return HelperPool(settings: settings)
    }

    /// Returns the error of a closure; `nil` if it throws none.
    static func error(of body: () throws(EideticError) -> some Any) -> EideticError? {
        do throws(EideticError) {
            _ = try body()
            return nil
        } catch {
            return error
        }
    }
}

extension HelperPool {
    /// Decodes with the defaults.
    func image(
        _ bytes: [UInt8],
        limits: DecodeLimits = DecodeLimits(),
        context: JobContext? = nil,
        change: (inout DecodeOptions) -> Void = { _ in }
    ) throws(EideticError) -> Image {
        var options = DecodeOptions()
        change(&options)
        return try decode(bytes, options: options, limits: limits, context: context).image
    }
}

extension Image {
    /// The pixels of all frames.
    var bytes: [[UInt8]] { frames.map { $0.pixels.withUnsafeBytes { Array($0) } } }

    /// Creates a still image of `size`, whose pixels all differ from their neighbours.
    static func gradient(_ size: PixelSize) throws(EideticError) -> Image {
        let pixels = try PixelBuffer(size: size, alpha: .opaque) { index in
            SIMD4(UInt8(truncatingIfNeeded: index), UInt8(truncatingIfNeeded: index / 7), UInt8(index % 251), 255)
        }
        return Image(frames: [Frame(pixels: pixels)], format: .png, sourceSize: size)
    }
}

/// Encoded images that tests make.
enum Samples {
    static func png(_ width: Int, _ height: Int) throws(EideticError) -> [UInt8] {
        try ImageEncoder.encode(.gradient(PixelSize(width: width, height: height)), as: .png)
    }

    static func jpeg(_ width: Int, _ height: Int) throws(EideticError) -> [UInt8] {
        try ImageEncoder.encode(.gradient(PixelSize(width: width, height: height)), as: .jpeg)
    }

    /// An animation of three frames.
    static func gif() throws(EideticError) -> [UInt8] {
        let sizes = PixelSize(width: 40, height: 30)
        let image = try Image.gradient(sizes)
        let frames = (1...3).map { Image.Frame(pixels: image.pixels, duration: .milliseconds(100 * $0)) }
        return try ImageEncoder.encode(Image(frames: frames, loopCount: 4, format: .gif, sourceSize: sizes), as: .gif)
    }
}
