import EideticCodecs
import EideticCore
import EideticSandbox
import EideticTestSupport
import Glibc
import Testing

@Suite("animations in the sandbox", .timeLimit(.minutes(5)))
struct SandboxedAnimationTests {
    private static func animation(
        _ bytes: [UInt8],
        in pool: HelperPool,
        isComplete: Bool = true,
        limits: DecodeLimits = .standard,
        change: (inout DecodeOptions) -> Void = { _ in }
    ) throws(EideticError) -> SandboxedAnimation? {
        var options = DecodeOptions()
        change(&options)
        return try SandboxedAnimation(
            bytes,
            isComplete: isComplete,
            options: options,
            maximumCopyBytes: 1 << 20,
            limits: limits,
            pool: pool,
            context: nil
        )
    }

    private static func decoder(_ bytes: [UInt8]) throws(EideticError) -> AnimationDecoder? {
        try AnimationDecoder(bytes, isComplete: true, options: .init(), maximumCopyBytes: 1 << 20, limits: .standard)
    }

    /// Compares the frames of an animation, forwards and backwards, with those of this process.
    private static func expectSameFrames(_ bytes: [UInt8], in pool: HelperPool, _ name: String = "") throws {
        let expected = try decoder(bytes), animation = try animation(bytes, in: pool)
        #expect(animation?.info == expected?.info.inNanoseconds, "\(name)")
        guard let expected, let animation else { return }
        let indices = Array(0..<min(Torture.repetitions(12, full: 30), expected.info.frameCount))
        for index in indices + indices.reversed() {
            let own = Result { () throws(EideticError) in try expected.frame(at: index, context: JobContext()) }
            let other = Result { () throws(EideticError) in try animation.frame(at: index, context: JobContext()) }
            switch (own, other) {
            case (.success(let own), .success(let other)):
                #expect(own.bytes == other.bytes && own.alpha == other.alpha, "\(name), frame \(index)")
            case (.failure(let own), .failure(let other)): #expect(own.code == other.code, "\(name): \(other)")
            default: Issue.record("\(name), frame \(index): \(own), \(other)")
            }
        }
    }

    @Test("F07 frames by number have the same bits in the sandbox: GIF with every disposal, APNG and WebP")
    func framesAreEqual() throws {
        let pool = Programs.pool()
        try Self.expectSameFrames(try Samples.disposals(), in: pool)
        for format in ImageEncoder.animatedFormats {
            try Self.expectSameFrames(try Samples.animation(as: format), in: pool, "\(format)")
        }
        // Another one has the library of AVIF.
        #expect(pool.startedCount <= pool.settings.idleLimit + 1)
    }

    @Test("F07 frames of the animations of the corpus have the same bits in the sandbox", .needsCorpus)
    func corpusIsEqual() throws {
        let pool = Programs.pool()
        var count = 0, formats: Set<ImageFormat> = []
        for name in try Corpus.files(withExtensions: ["gif", "png", "apng", "webp", "avif", "avifs", "jxl"]) {
            let bytes = try Corpus.bytes(of: name)
            guard bytes.count < 300_000, AnimationDecoder.mayBeAnimated(bytes), !name.hasPrefix("fuzz"),
                let source = try? Self.decoder(bytes), source.info.size.pixelCount < 1 << 17
            else { continue }
            count += 1
            formats.insert(source.info.format)
            try Self.expectSameFrames(bytes, in: pool, name)
        }
        #expect(count > 20)
        if ImageDecoder.supportedFormats.contains(.jpegxl) { #expect(formats.contains(.jpegxl)) }
    }

    @Test("F07 frames larger than a window of the process are sealed, and have the same bits")
    func largeFrames() throws {
        let bytes = try Samples.animation(as: .gif, size: PixelSize(width: 1_200, height: 1_000), frameCount: 3)
        try Self.expectSameFrames(bytes, in: Programs.pool())
    }

    @Test(
        "F07 frames come as their bytes do, and each byte is handed over once",
        arguments: [ImageFormat.gif, .png, .webp]
    )
    func pieces(format: ImageFormat) throws {
        let bytes = try Samples.animation(as: format), pool = Programs.pool()
        let expected = try #require(try Self.decoder(bytes))
        var animation: SandboxedAnimation?
        var next = 0, sent = 0, firstFrameByteCount: Int?
        while sent < bytes.count {
            let piece = Array(bytes[sent...].prefix(97))
            sent += piece.count
            let isComplete = sent == bytes.count
            if let animation {
                _ = try animation.append(piece, isComplete: isComplete)
            } else {
                animation = try Self.animation(Array(bytes.prefix(sent)), in: pool, isComplete: isComplete)
            }
            while next < animation?.info.frameCount ?? 0 {
                let pixels = try animation?.frame(at: next, context: JobContext())
                #expect(try pixels?.bytes == expected.frame(at: next, context: JobContext()).bytes, "frame \(next)")
                firstFrameByteCount = firstFrameByteCount ?? sent
                next += 1
            }
        }
        #expect(next == expected.info.frameCount && animation?.info.isComplete == true)
        #expect(try #require(firstFrameByteCount) < bytes.count / 2)
    }

    @Test("F07 a process that is killed while an animation plays is replaced, and the frames go on")
    func killedProcess() throws {
        let pool = Programs.pool { $0.idleLimit = 1 }, bytes = try Samples.disposals()
        let expected = try #require(try Self.decoder(bytes))
        let animation = try #require(try Self.animation(bytes, in: pool))
        for index in 0..<expected.info.frameCount {
            let pixels = try animation.frame(at: index, context: JobContext())
            #expect(try pixels.bytes == expected.frame(at: index, context: JobContext()).bytes, "frame \(index)")
            if index == 3 || index == 9 { Programs.kill(try #require(pool.keepingIdentifiers.first)) }
        }
        #expect(pool.startedCount >= 3)
    }

    @Test("F07 replacing a process after its number of images breaks no animation that runs")
    func recycledProcesses() throws {
        let pool = Programs.pool { ($0.idleLimit, $0.imageLimit) = (1, 2) }, bytes = try Samples.disposals()
        let expected = try #require(try Self.decoder(bytes))
        let running = try #require(try Self.animation(bytes, in: pool))
        for index in 0..<expected.info.frameCount {
            // Each animation that is opened counts, the frames do not.
            _ = try Self.animation(bytes, in: pool)
            let pixels = try running.frame(at: index, context: JobContext())
            #expect(try pixels.bytes == expected.frame(at: index, context: JobContext()).bytes)
        }
        #expect(pool.startedCount > expected.info.frameCount / 4)
    }

    @Test("F07 animations share processes, which release the decoders of animations that are gone")
    func decodersAreReleased() async throws {
        let pool = Programs.pool { $0.idleLimit = 2 }, bytes = try Samples.disposals()
        var animations: [SandboxedAnimation] = []
        for _ in 0..<20 { animations.append(try #require(try Self.animation(bytes, in: pool))) }
        #expect(pool.keptDecoderCount == 20 && pool.keepingIdentifiers.count == 2 && pool.startedCount == 2)
        for animation in animations { _ = try animation.frame(at: 5, context: JobContext()) }
        animations = []
        try await eventually("kept decoders, and their processes", is: 0) {
            pool.keptDecoderCount + pool.keepingIdentifiers.count
        }
        #expect(try pool.image(try Samples.png(8, 8)).size.width == 8)
        #expect(pool.startedCount == 2)
    }

    @Test("F07 bytes that break off leave the frames before them, in another process as well")
    func damagedEnd() throws {
        let pool = Programs.pool { $0.idleLimit = 1 }, bytes = try Samples.disposals()
        var limits = DecodeLimits.standard
        limits.frames = 8
        let head = Array(bytes.prefix(bytes.count / 4))
        let animation = try #require(try Self.animation(head, in: pool, isComplete: false, limits: limits))
        let count = animation.info.frameCount, expected = try #require(try Self.decoder(bytes))
        #expect((1..<8).contains(count))
        let error = Programs.error { () throws(EideticError) in
            try animation.append(Array(bytes.dropFirst(head.count)), isComplete: true)
        }
        #expect(error?.code == .limitExceeded)
        for isKilled in [false, true] {
            if isKilled { Programs.kill(try #require(pool.keepingIdentifiers.first)) }
            for index in 0..<count {
                let pixels = try animation.frame(at: index, context: JobContext())
                #expect(try pixels.bytes == expected.frame(at: index, context: JobContext()).bytes)
            }
        }
    }

    @Test("F07 stills, other formats and bytes that are none are no animations")
    func stills() throws {
        let pool = Programs.pool()
        #expect(try Self.animation(try Samples.png(5, 5), in: pool) == nil && pool.startedCount == 0)
        #expect(try Self.animation(try Samples.jpeg(5, 5), in: pool) == nil)
        let still = try ImageEncoder.encode(.gradient(PixelSize(width: 9, height: 9)), as: .gif)
        #expect(try Self.animation(still, in: pool) == nil)
        let damaged = Programs.error { () throws(EideticError) in
            try Self.animation(Array("GIF89a".utf8) + [0, 0, 0, 0, 0, 0, 0], in: pool)?.info.frameCount
        }
        #expect(damaged == nil || damaged?.code == .corrupt || damaged?.code == .truncated)
    }
}

extension AnimationInfo {
    /// The properties as messages have them.
    fileprivate var inNanoseconds: AnimationInfo {
        var info = self
        info.durations = durations.map { .nanoseconds($0.inNanoseconds) }
        return info
    }
}
