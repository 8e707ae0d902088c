import EideticCodecs
import EideticCore
import EideticTestSupport
import Testing

/// Pillow, a library of Python, which makes reference images.
enum Pillow {
    /// Python as Debian installs it, with its packages.
    static let python = "/usr/bin/python3"

    static let isInstalled = (try? FileSystem().linkStatus(of: "/usr/lib/python3/dist-packages/PIL")) != nil

    /// Returns the result of a Python expression in which `image` is an image with these pixels.
    static func image(_ expression: String, of pixels: PixelBuffer) async throws -> PixelBuffer {
        let script = """
            import sys
            from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageOps
            image = Image.frombytes("RGBA", (\(pixels.size.width), \(pixels.size.height)), sys.stdin.buffer.read())
            result = \(expression)
            sys.stdout.buffer.write(b"%6d%6d" % result.size + result.convert("RGBA").tobytes())
            """
        let result = try await Subprocess.run(python, arguments: ["-c", script], input: pixels.bytes)
        try #require(result.status == .exited(0), "\(result.errorText)")
        let sides = [result.output[0..<6], result.output[6..<12]].map {
            Int(String(decoding: $0, as: UTF8.self).filter(\.isNumber)) ?? 0
        }
        return try PixelBuffer(size: PixelSize(width: sides[0], height: sides[1]), alpha: .premultiplied) { target, _ in
            target.copyBytes(from: result.output[12...])
        }
    }
}

@Suite("Transforms and those of Pillow", .enabled(if: Pillow.isInstalled, "python3-pil is not installed"))
struct PillowTests {
    /// A transform, the same in Pillow, and the least signal-to-noise ratio of their results in decibels.
    struct Pair: Sendable, CustomTestStringConvertible {
        let transform: any ImageTransform
        let expression: String
        let ratio: Double

        init(_ transform: any ImageTransform, _ expression: String, ratio: Double = .infinity) {
            (self.transform, self.expression, self.ratio) = (transform, expression, ratio)
        }

        var testDescription: String { transform.key }
    }

    /// A rectangle with round corners of 20 pixels, drawn four times as large.
    private static let mask = """
        (lambda mask: (ImageDraw.Draw(mask).rounded_rectangle((0, 0, 1195, 895), 80, fill=255), \
        mask.resize((299, 224), Image.BOX))[1])(Image.new("L", (1196, 896)))
        """

    /// A disc of 224 pixels, drawn four times as large.
    private static let disc = """
        (lambda mask: (ImageDraw.Draw(mask).ellipse((0, 0, 895, 895), fill=255), \
        mask.resize((224, 224), Image.BOX))[1])(Image.new("L", (896, 896)))
        """

    static let pairs = [
        Pair(.crop(PixelRect(x: 10, y: 20, width: 100, height: 50)), "image.crop((10, 20, 110, 70))"),
        Pair(.flip(), "ImageOps.mirror(image)"),
        Pair(.flip(horizontal: false, vertical: true), "ImageOps.flip(image)"),
        Pair(.flip(horizontal: true, vertical: true), "ImageOps.flip(ImageOps.mirror(image))"),
        Pair(.rotation(degrees: 90), "image.transpose(Image.ROTATE_270)"),
        Pair(.rotation(degrees: -90), "image.transpose(Image.ROTATE_90)"),
        Pair(.rotation(degrees: 540), "image.transpose(Image.ROTATE_180)"),
        Pair(.grayscale, "image.convert('L')"),
        Pair(
            .tint(ImageColor(red: 200, green: 0, blue: 50, alpha: 51)),
            "Image.blend(image, Image.new('RGBA', image.size, (200, 0, 50, 255)), 0.2)",
            ratio: 50
        ),
        Pair(
            .border(width: 3, color: ImageColor(red: 1, green: 2, blue: 3)),
            "ImageOps.expand(image.crop((3, 3, 296, 221)), 3, (1, 2, 3, 255))"
        ),
        Pair(.gaussianBlur(), "image.filter(ImageFilter.GaussianBlur(8))", ratio: 50),
        Pair(.gaussianBlur(radius: 1.5), "image.filter(ImageFilter.GaussianBlur(1.5))", ratio: 50),
        Pair(.sharpening(amount: 1.5, radius: 2), "image.filter(ImageFilter.UnsharpMask(2, 150, 0))", ratio: 40),
        Pair(.resize(PixelSize(width: 100, height: 75)), "image.resize((100, 75), Image.LANCZOS)", ratio: 40),
        Pair(
            .resize(PixelSize(width: 600, height: 448), upscales: true),
            "image.resize((598, 448), Image.LANCZOS)",
            ratio: 48
        ),
        Pair(
            .rotation(degrees: 30, background: .white),
            "image.rotate(-30, Image.BILINEAR, expand=True, fillcolor='white')",
            ratio: 24
        ),
        Pair(
            .resize(PixelSize(width: 100, height: 100), contentMode: .fillCropped()),
            "ImageOps.fit(image, (100, 100), Image.LANCZOS)",
            ratio: 34
        ),
        Pair(
            .resize(PixelSize(width: 100, height: 100), contentMode: .fillCropped(focus: .point(x: 0, y: 0))),
            "image.resize((133, 100), Image.LANCZOS).crop((0, 0, 100, 100))",
            ratio: 40
        ),
        Pair(
            .resize(PixelSize(width: 100, height: 150), contentMode: .stretch),
            "image.resize((100, 150), Image.LANCZOS)",
            ratio: 40
        ),
        Pair(
            TransformChain([.flip(), .grayscale, .crop(PixelRect(x: 10, y: 20, width: 100, height: 50))]),
            "ImageOps.mirror(image).convert('L').crop((10, 20, 110, 70))"
        ),
        Pair(
            .circle(),
            "ImageChops.multiply(image.crop((37, 0, 261, 224)), Image.merge('RGBA', 4 * [\(disc)]))",
            ratio: 32
        ),
        Pair(
            .roundedCorners(radius: 20),
            "ImageChops.multiply(image, Image.merge('RGBA', 4 * [\(mask)]))",
            ratio: 40
        ),
    ]

    @Test("F06 the result of a transform is that of Pillow, within a tolerance", arguments: pairs)
    func agrees(_ pair: Pair) async throws {
        let pixels = try TestImages.photo(width: 299, height: 224)
        let reference = try await Pillow.image(pair.expression, of: pixels),
            result = try pair.transform.apply(to: pixels)
        try #require(result.size == reference.size)
        #expect(signalToNoiseRatio(result, reference) >= pair.ratio)
    }
}
