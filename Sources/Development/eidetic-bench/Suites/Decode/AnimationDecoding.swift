import CBareCodecs
import CBareJPEG
import EideticCodecs
import EideticCore
import Glibc

extension Bench {
    /// Measures animations of 100 frames, played through frame by frame.
    func measureAnimations() async throws {
        let frames = try movingFrames(count: 100)
        let animation = Image(frames: frames, loopCount: nil, format: .png, sourceSize: frames[0].pixels.size)
        let gif = try ImageEncoder.encode(animation, as: .gif)
        try await comparePlaying("gif, 100 frames played", of: gif, with: "giflib") {
            precondition(eidetic_bare_gif_play($0.baseAddress, $0.count) == 100)
        }
        let webp = try ImageEncoder.encode(animation, as: .webp)
        try await comparePlaying("webp, 100 frames played", of: webp, with: "libwebp's animation decoder") {
            precondition(eidetic_bare_webp_play($0.baseAddress, $0.count) == 100)
        }
        let stills = try frames.map { frame in
            try ImageEncoder.encode(
                Image(frames: [frame], format: .png, sourceSize: frame.pixels.size),
                as: .png
            )
        }
        let apng = try ImageEncoder.encode(animation, as: .png)
        try await comparePlaying("apng, 100 frames played", of: apng, with: "libpng, each frame a file") { _ in
            for still in stills {
                still.withUnsafeBufferPointer { free(eidetic_bare_png_decode($0.baseAddress, $0.count)) }
            }
        }
        measureFirstFrame(of: gif)
    }

    private func comparePlaying(
        _ name: String,
        of bytes: [UInt8],
        with library: String,
        bare: (UnsafeBufferPointer<UInt8>) -> Void
    ) async throws {
        if let only = arguments["only"], !name.contains(only) { return }
        try await compare(
            BenchmarkCase(name, unit: .milliseconds, goal: .ratio(1.1)),
            with: library,
            ours: {
                let source = try AnimationDecoder(bytes, isComplete: true, options: .init(), limits: .standard)
                guard let source, source.info.frameCount == 100 else { throw UsageError(message: "\(name): no frames") }
                for index in 0..<100 { blackHole(try source.frame(at: index, context: JobContext())) }
            },
            theirs: { bytes.withUnsafeBufferPointer(bare) }
        )
    }

    /// Reports the part of a file that has to arrive before its first frame can be shown.
    private func measureFirstFrame(of bytes: [UInt8]) {
        let name = "gif, 100 frames, part of the bytes before the first frame"
        if let only = arguments["only"], !name.contains(only) { return }
        var (few, many) = (1, bytes.count)
        while few < many {
            let middle = (few + many) / 2
            let head = Array(bytes.prefix(middle))
            let source = try? AnimationDecoder(head, isComplete: false, options: .init(), limits: .standard)
            if source == nil { few = middle + 1 } else { many = middle }
        }
        report(
            BenchmarkCase(name, unit: .fraction, goal: .value(0.02)),
            samples: Samples(values: [Double(many) / Double(bytes.count)])
        )
    }

    /// Returns frames of 320 x 240 pixels, parts of a photograph that the view moves over.
    private func movingFrames(count: Int) throws -> [Image.Frame] {
        let photograph = try ImageDecoder.decode(
            try SyntheticPhotograph.jpeg(size: PixelSize(width: 720, height: 340))
        )
        return try (0..<count).map { index in
            let area = PixelRect(x: 4 * index, y: index, width: 320, height: 240)
            let pixels = try photograph.pixels.cropped(to: area)
            return Image.Frame(pixels: pixels, duration: .milliseconds(40))
        }
    }
}

// MARK: Arriving bytes
extension Bench {
    /// Measures previews of images that arrive in ten pieces.
    func measureArrivingImages() async throws {
        let size = PixelSize(width: 4_000, height: 3_000)
        let photograph = try ImageDecoder.decode(try SyntheticPhotograph.jpeg(size: size))
        let name = "progressive jpeg, 12 MP in 10 pieces"
        if arguments["only"].map({ name.contains($0) }) ?? true {
            let jpeg = photograph.pixels.progressiveJPEG
            try await compare(
                BenchmarkCase(name, unit: .milliseconds, goal: .ratio(1.05)),
                with: "libjpeg-turbo's buffered images",
                ours: { try Self.preview(jpeg, pieces: 10) },
                theirs: {
                    jpeg.withUnsafeBufferPointer { free(eidetic_bare_jpeg_passes($0.baseAddress, $0.count, 10)) }
                }
            )
        }
        let webpName = "webp, 12 MP in 10 pieces"
        guard arguments["only"].map({ webpName.contains($0) }) ?? true else { return }
        let webp = try photograph.encoded(as: .webp)
        try await compare(
            BenchmarkCase(webpName, unit: .milliseconds, goal: .ratio(1.05)),
            with: "the same image as a whole",
            ours: { try Self.preview(webp, pieces: 10) },
            theirs: { blackHole(try ImageDecoder.decode(webp)) }
        )
    }

    private static func preview(_ bytes: [UInt8], pieces: Int) throws {
        let decoder = PreviewDecoder(options: DecodeOptions(), limits: .standard, context: JobContext())
        for piece in 1...pieces {
            blackHole(try? decoder.preview(of: Array(bytes.prefix(bytes.count * piece / pieces))))
        }
    }
}

extension PixelBuffer {
    /// The pixels as a JPEG of several scans.
    fileprivate var progressiveJPEG: [UInt8] {
        withUnsafeBytes { pixels in
            var count = 0
            let base = pixels.assumingMemoryBound(to: UInt8.self).baseAddress
            guard let bytes = eidetic_bare_jpeg_encode(base, UInt32(size.width), UInt32(size.height), 88, 1, &count)
            else {
                return []
            }
            defer { free(bytes) }
            return Array(UnsafeBufferPointer(start: bytes, count: count))
        }
    }
}
