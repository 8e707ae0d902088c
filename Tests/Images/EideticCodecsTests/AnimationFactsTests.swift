import EideticCodecs
import EideticCore
import EideticTestSupport
import Testing

/// The animations of the corpus: frames, durations and loops on which other decoders agree.
@Suite("Facts of animations", .needsCorpus, .timeLimit(.minutes(5)))
struct AnimationFactsTests {
    private static let all = GroundTruth.files(
        of: [.gif, .png, .webp, .avif, .jpegxl],
        kinds: ["wellformed", "single"]
    ).filter { $0.frames ?? 1 > 1 }

    /// The loop count of a file as stored: GIF has repetitions, others the number of plays; 0 is for ever.
    private static func loopCount(of truth: GroundTruth) -> Int? {
        guard let loops = truth.loops else { return 1 }
        return loops == 0 ? nil : truth.format == "gif" ? loops + 1 : loops
    }

    @Test("F03 the animations of the corpus are found") func count() {
        #expect(Self.all.count > 35)
        #expect(Set(Self.all.map(\.format)).isSuperset(of: ["gif", "png", "webp"]))
    }

    @Test("F03 an animation has the frames, durations and loops that other decoders find", arguments: all)
    func facts(_ truth: GroundTruth) async throws {
        let bytes = try Corpus.bytes(of: truth.path)
        let source = try AnimationDecoder(bytes, isComplete: true, options: .stored, limits: .standard)
        // The default image of an animation that breaks the rules is as right.
        guard let source else { #expect(truth.isDamagedAnimation == true, "no animation"); return }
        let info = source.info, count = try #require(truth.frames)
        #expect(info.isComplete && info.size == truth.size)
        guard truth.isDamagedAnimation != true else { #expect((1...count + 1).contains(info.frameCount)); return }
        #expect(info.frameCount == count)
        if truth.format == "gif" || truth.format == "png" || truth.format == "webp" {
            #expect(info.loopCount == Self.loopCount(of: truth))
        }
        for (duration, stored) in zip(info.durations, truth.durations ?? []) {
            guard let stored else { continue }
            let played = stored < 11 ? 100 : stored
            #expect(abs(duration / .milliseconds(1) - played) <= 1, "\(duration) for \(stored) ms")
        }
        try await expectFrames(of: truth, from: source)
    }

    /// Compares the frames, which an animation with a window delivers, with the means of other decoders.
    private func expectFrames(of truth: GroundTruth, from source: AnimationDecoder) async throws {
        let pool = WorkPool(name: "frames", maximumThreadCount: 1)
        let poster = try source.frame(at: 0, context: JobContext())
        let animation = AnimatedImage(source: source, poster: poster) { pool.enqueue(in: $0, operation: $1) }
        let tolerance = max(3, (truth.frameSpread ?? 0) + 2)
        for index in 0..<animation.frameCount {
            let pixels = try await animation.frame(at: index)
            guard truth.frameMeansAgree == true, let means = truth.frameMeans, index < means.count else { continue }
            #expect(maximumDifference(mean(of: pixels), hexadecimal: means[index]) <= tolerance, "frame \(index)")
        }
        #expect(animation.frameCount == truth.frames && animation.failure == nil)
    }
}
