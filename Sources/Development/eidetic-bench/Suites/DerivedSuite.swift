import Eidetic
import EideticCodecs
import EideticCore

extension Suite {
    /// Encodings in which an image of 400 pixels could be kept on disk.
    static let derived = Suite(
        "derived",
        summary: "encodings of photographs at 400 pixels, opaque and with alpha: time of decoding and encoding, size",
        arguments: ["count=20  the number of photographs"]
    ) { bench in
        let photographs = try Photographs(count: try bench.integer(named: "count", default: 20))
        let opaque = try photographs.thumbnails()
        try await report(opaque, named: "opaque", with: bench)
        try await report(try opaque.map { try $0.fadingOut() }, named: "alpha", with: bench)
    }

    private static func report(_ images: [Image], named name: String, with bench: Bench) async throws {
        let encodings: [(String, ImageFormat, Double)] = [
            ("JPEG 0.90", .jpeg, 0.9), ("JPEG 0.96", .jpeg, 0.96), ("WebP 0.90", .webp, 0.9),
            ("WebP lossless", .webp, 1), ("PNG", .png, 1),
        ]
        for (encoding, format, quality) in encodings where name == "opaque" || format != .jpeg {
            var files: [[UInt8]] = []
            let encoding = "\(name), \(encoding)"
            var (encoded, decoded): ([Double], [Double]) = ([], [])
            for image in images {
                let time = try await Bench.seconds {
                    files.append(try ImageEncoder.encode(image, as: format, quality: quality))
                }
                encoded.append(time)
            }
            for file in files {
                decoded.append(try await Bench.seconds { blackHole(try ImageDecoder.decode(file).size) })
            }
            let sizes = files.map { Double($0.count) }
            bench.report(
                BenchmarkCase("\(encoding), decode", unit: .microseconds),
                samples: Samples(values: decoded.map { $0 * 1e6 })
            )
            bench.report(
                BenchmarkCase("\(encoding), encode", unit: .microseconds),
                samples: Samples(values: encoded.map { $0 * 1e6 })
            )
            bench.report(BenchmarkCase("\(encoding), size", unit: .bytes), samples: Samples(values: sizes))
        }
    }
}

extension Photographs {
    fileprivate func thumbnails() throws -> [Image] {
        var options = DecodeOptions()
        options.size = PixelSize(width: 400, height: 400)
        return try names.map { name in
            try ImageDecoder.decode(try FileSystem().contents(of: "\(directory)/\(name)"), options: options)
        }
    }
}

extension Image {
    /// Returns the image with an opacity that falls from left to right.
    fileprivate func fadingOut() throws -> Image {
        let width = size.width
        let faded = try PixelBuffer(size: size, alpha: .premultiplied) { target, _ in
            pixels.withUnsafeBytes { source in
                for index in source.indices {
                    let opacity = 255 - index / 4 % width * 255 / width
                    target[index] = UInt8(index % 4 == 3 ? opacity : Int(source[index]) * opacity / 255)
                }
            }
        }
        return Image(frames: [Frame(pixels: faded)], format: .png, sourceSize: size)
    }
}
