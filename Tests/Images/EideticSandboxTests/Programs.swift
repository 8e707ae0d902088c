import EideticCodecs
import EideticCore
import EideticSandbox
import EideticTestSupport
import Glibc

/// The programs of the build.
enum Programs {
    /// Returns the path of an executable beside this test bundle.
    static func path(of program: String) -> String {
        BuiltProgram.path(of: program)
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

    /// Kills a process, and waits until it has ended.
    static func kill(_ identifier: Int32) {
        Glibc.kill(identifier, SIGKILL)
        var information = siginfo_t()
        // One that is collected meanwhile has ended, too.
        while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
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

extension PixelBuffer {
    /// Creates a buffer from a function of the indices of its first 65,537 pixels, which are repeated.
    ///
    /// Calls for each of millions of pixels take seconds in a debug build.
    static func repeating(
        size: PixelSize,
        alpha: Alpha,
        pixel: (_ index: Int) -> SIMD4<UInt8>
    ) throws(EideticError) -> PixelBuffer {
        let pattern = (0..<min(size.pixelCount, 65_537)).map(pixel)
        return try PixelBuffer(size: size, alpha: alpha) { target, _ throws(EideticError) in
            pattern.withUnsafeBytes { bytes in
                for start in stride(from: 0, to: target.count, by: bytes.count) {
                    let part = min(bytes.count, target.count - start)
                    UnsafeMutableRawBufferPointer(rebasing: target[start..<start + part])
                        .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<part]))
                }
            }
        }
    }

    var bytes: [UInt8] { withUnsafeBytes { Array($0) } }
}

extension Image {
    /// The pixels of all frames.
    var bytes: [[UInt8]] { frames.map(\.pixels.bytes) }

    /// Creates a still image of `size`, whose pixels all differ from their neighbours.
    static func gradient(_ size: PixelSize) throws(EideticError) -> Image {
        let pixels = try PixelBuffer.repeating(size: size, alpha: .opaque) { index in
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

    /// An animation whose frames differ, with transparent parts.
    static func animation(
        as format: ImageFormat,
        size: PixelSize = PixelSize(width: 40, height: 30),
        frameCount: Int = 12
    ) throws(EideticError) -> [UInt8] {
        var frames: [Image.Frame] = []
        for number in 0..<frameCount {
            let pixels = try PixelBuffer.repeating(size: size, alpha: .straight) { index in
                let isClear = (index + number) % 7 == 0
                let shade = UInt8(truncatingIfNeeded: index / 5 + 20 * number)
                return isClear ? SIMD4(0, 0, 0, 0) : SIMD4(shade, UInt8(index % 200), 30, 255)
            }
            frames.append(Image.Frame(pixels: pixels, duration: .milliseconds(20 * (number + 1))))
        }
        return try ImageEncoder.encode(Image(frames: frames, loopCount: 3, format: .png, sourceSize: size), as: format)
    }

    /// A GIF with every disposal in turn.
    static func disposals() throws(EideticError) -> [UInt8] {
        var bytes = try animation(as: .gif, frameCount: 24)
        var disposal: UInt8 = 0
        for index in 0..<bytes.count - 8
        where bytes[index] == 0x21 && bytes[index + 1] == 0xf9 && bytes[index + 2] == 4 && bytes[index + 7] == 0 {
            bytes[index + 3] = bytes[index + 3] & ~0x1c | disposal << 2
            disposal = (disposal + 1) % 4
        }
        return bytes
    }
}
