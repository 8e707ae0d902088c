import EideticCodecs
import EideticCore
import Glibc

extension Suite {
    /// Transforms against Pillow, and thumbnails of photographs against vipsthumbnail.
    static let transform = Suite(
        "transform",
        summary: "transforms of 2 megapixels against Pillow; thumbnails of photographs against vipsthumbnail",
        arguments: ["photographs=500  the number of photographs"]
    ) { bench in
        let size = PixelSize(width: 1_664, height: 1_248)
        let image = try ImageDecoder.decode(try SyntheticPhotograph.jpeg(size: size))
        if (try? MeasuredProcess.run([python, "-c", "import PIL"])) == nil {
            printError("transform: skipped: no Pillow; install python3-pil")
        } else {
            for pair in transforms { try await compare(pair, on: image.pixels, with: bench) }
        }
        guard MeasuredProcess.isInstalled("vipsthumbnail") else {
            return printError("transform: thumbnails: skipped: no vipsthumbnail; install libvips-tools")
        }
        let photographs = try Photographs(count: try bench.integer(named: "photographs", default: 500, quick: 20))
        for (format, goal) in [("jpg", 1 / 1.5), ("webp", 1 / 1.2)] {
            try compareThumbnails(of: photographs, format: format, goal: goal, with: bench)
        }
    }

    /// Python as Debian installs it, with its packages.
    private static let python = "/usr/bin/python3"

    /// A transform, and the expression of Pillow with the same result.
    private typealias Pair = (name: String, transform: any ImageTransform, expression: String)

    private static let red = ImageColor(red: 255, green: 0, blue: 0, alpha: 51)

    private static let transforms: [Pair] = [
        ("resize to 400", .resize(PixelSize(width: 400, height: 300)), "image.resize((400, 300), Image.LANCZOS)"),
        ("crop", .crop(PixelRect(x: 100, y: 100, width: 1_400, height: 1_000)), "image.crop((100, 100, 1500, 1100))"),
        ("rounded corners", .roundedCorners(radius: 40), "rounded()"),
        ("rotation by 90°", .rotation(degrees: 90), "image.transpose(Image.ROTATE_270)"),
        ("rotation by 10°", .rotation(degrees: 10), "image.rotate(-10, Image.BILINEAR, expand=True)"),
        ("flip left to right", .flip(), "image.transpose(Image.FLIP_LEFT_RIGHT)"),
        ("flip upside down", .flip(horizontal: false, vertical: true), "image.transpose(Image.FLIP_TOP_BOTTOM)"),
        ("tint", .tint(red), "Image.blend(image, Image.new('RGBA', image.size, (255, 0, 0, 255)), 0.2)"),
        ("greyscale", .grayscale, "image.convert('L').convert('RGBA')"),
        ("blur of 8 pixels", .gaussianBlur(radius: 8), "image.filter(ImageFilter.GaussianBlur(8))"),
        ("sharpening", .sharpening(amount: 1, radius: 1), "image.filter(ImageFilter.UnsharpMask(1, 100, 0))"),
    ]

    /// Compares one transform on one thread.
    private static func compare(_ pair: Pair, on pixels: PixelBuffer, with bench: Bench) async throws {
        var ours: [Double] = []
        for _ in 0..<max(3, bench.sampleCount(15)) {
            ours.append(1e3 * (try await Bench.seconds { blackHole(try pair.transform.apply(to: pixels).size) }))
        }
        let theirs = try pillowTimes(pair.expression, size: pixels.size, count: ours.count).map { $0 * 1e3 }
        bench.report(
            BenchmarkCase(pair.name, unit: .milliseconds, goal: .ratio(0.5)),
            samples: Samples(values: ours),
            baseline: ("Pillow", Samples(values: theirs))
        )
    }

    /// Returns the run times of an expression of Pillow in seconds.
    private static func pillowTimes(_ expression: String, size: PixelSize, count: Int) throws -> [Double] {
        let script = """
            import time
            from PIL import Image, ImageDraw, ImageFilter
            size = (\(size.width), \(size.height))
            image = Image.effect_noise(size, 60).convert("RGBA")
            mask = Image.new("L", size)
            ImageDraw.Draw(mask).rounded_rectangle((0, 0, size[0] - 1, size[1] - 1), 40, fill=255)
            def rounded():
                result = image.copy()
                result.putalpha(mask)
                return result
            for _ in range(\(count)):
                start = time.perf_counter()
                result = \(expression)
                print(time.perf_counter() - start)
            """
        return try MeasuredProcess.outputLines(of: [python, "-c", script]).compactMap { Double($0) }
    }

    /// Compares thumbnails of 400 pixels, made on two processors.
    private static func compareThumbnails(
        of photographs: Photographs,
        format: String,
        goal: Double,
        with bench: Bench
    ) throws {
        let directory = "\(photographs.directory)-\(format)", files = "\(photographs.directory)/*.jpg"
        let program = try MeasuredProcess.path(ofProgramBesideThis: "eidetic")
        let convert = "\(program) convert --size 400x400 --format \(format) --out \(directory)/a \(files)"
        let options = "--size 400x400 -o \(directory)/b/%s.\(format)[Q=85,strip]"
        let vips = "ls \(files) | xargs -P 2 -n 50 env VIPS_CONCURRENCY=1 vipsthumbnail \(options)"
        var (ours, theirs): ([Double], [Double]) = ([], [])
        for _ in 0..<bench.sampleCount(3) {
            _ = try MeasuredProcess.run(["sh", "-c", "rm -rf \(directory); mkdir -p \(directory)/a \(directory)/b"])
            ours.append(try MeasuredProcess.run(["sh", "-c", convert]).seconds)
            theirs.append(try MeasuredProcess.run(["sh", "-c", vips]).seconds)
        }
        let name = "\(photographs.names.count) thumbnails as \(format)"
        bench.report(
            BenchmarkCase(name, unit: .seconds, goal: .ratio(goal)),
            samples: Samples(values: ours),
            baseline: ("vipsthumbnail", Samples(values: theirs))
        )
        try reportQuality(of: photographs, in: directory, format: format, name: name, with: bench)
    }

    /// Reports the likeness of both results to thumbnails without loss, and their sizes.
    private static func reportQuality(
        of photographs: Photographs,
        in directory: String,
        format: String,
        name: String,
        with bench: Bench
    ) throws {
        var options = DecodeOptions()
        options.size = PixelSize(width: 400, height: 400)
        var likeness: [[Double]] = [[], []]
        var sizes: [[Double]] = [[], []]
        for file in photographs.names.prefix(20) {
            let bytes = try FileSystem().contents(of: "\(photographs.directory)/\(file)")
            let reference = try ImageDecoder.decode(bytes, options: options).pixels
            for (index, folder) in ["a", "b"].enumerated() {
                let path = "\(directory)/\(folder)/\(file.prefix { $0 != "." }).\(format)"
                let thumbnail = try FileSystem().contents(of: path)
                let pixels = try ImageDecoder.decode(thumbnail).pixels
                sizes[index].append(Double(thumbnail.count))
                likeness[index].append(try StructuralSimilarity.value(of: pixels, and: reference))
            }
        }
        bench.report(
            BenchmarkCase("\(name): SSIM", unit: .fraction, better: .higher, goal: .ratio(0.995)),
            samples: Samples(values: likeness[0]),
            baseline: ("vipsthumbnail", Samples(values: likeness[1]))
        )
        bench.report(
            BenchmarkCase("\(name): size", unit: .bytes),
            samples: Samples(values: sizes[0]),
            baseline: ("vipsthumbnail", Samples(values: sizes[1]))
        )
    }
}
