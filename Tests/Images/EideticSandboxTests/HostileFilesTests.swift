import EideticCodecs
import EideticCore
import EideticSandbox
import EideticTestSupport
import FoundationEssentials
import Testing

@Suite("hostile files in the sandbox", .needsCorpus, .timeLimit(.minutes(10)))
struct HostileFilesTests {
    /// An entry of the corpus's own list.
    private struct Entry: Decodable {
        let path: String
        let kind: String
    }

    private static func entries(of kind: String) throws -> [Entry] {
        try Corpus.bytes(of: "truth.jsonl").split(separator: UInt8(ascii: "\n"))
            .map { try JSONDecoder().decode(Entry.self, from: Data($0)) }
            .filter { $0.kind == kind }
    }

    private static var limits: DecodeLimits {
        var limits = DecodeLimits()
        limits.duration = .seconds(10)
        return limits
    }

    @Test(
        "F07 each damaged, malformed, foreign and bomb file of the corpus ends with an image or a typed error",
        arguments: [("damaged", 250), ("malformed", 200), ("foreign", 50), ("unsupported", 1), ("bomb", 3)]
    )
    func everyFile(kind: String, count: Int) throws {
        let pool = Programs.pool { $0.idleLimit = 1 }, good = try Samples.png(30, 30)
        let entries = try Self.entries(of: kind)
        #expect(entries.count >= count)
        for (number, entry) in entries.enumerated() where Torture.isFull || number % 4 == 0 {
            let bytes = try Corpus.bytes(of: entry.path)
            for frames in [DecodeOptions.Frames.first, .all] {
                let error = Programs.error { () throws(EideticError) in
                    try pool.image(bytes, limits: Self.limits) { options in
                        (options.size, options.frames) = (PixelSize(width: 32, height: 32), frames)
                    }.size
                }
                // No file ends a process, whatever it does to its own image.
                #expect(error?.code != .decoderFailed && error?.code != .sandboxUnavailable, "\(entry.path)")
                if kind == "malformed" || kind == "foreign" { #expect(error != nil, "\(entry.path)") }
            }
            for error in [
                Programs.error(of: { () throws(EideticError) in try pool.header(of: bytes) as Any }),
                Programs.error(of: { () throws(EideticError) in try pool.metadata(of: bytes) }),
            ] {
                #expect(error?.code != .decoderFailed && error?.code != .sandboxUnavailable, "\(entry.path)")
            }
            try Self.play(bytes, in: pool, name: entry.path)
        }
        #expect(try pool.image(good).bytes == ImageDecoder.decode(good).bytes)
    }

    @Test(
        "F07 this process searches a bounded number of chunks of a PNG for the announcement of its frames",
        arguments: [(4_094, true), (4_095, true), (4_096, false)]
    )
    func chunksAreCounted(count: Int, isFound: Bool) {
        let chunk: [UInt8] = [0, 0, 0, 0] + Array("tRNS".utf8) + [0, 0, 0, 0]
        let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
        let chunks = repeatElement(chunk, count: count).joined()
        #expect(AnimationDecoder.mayBeAnimated(signature + chunks + [0, 0, 0, 8] + Array("acTL".utf8)) == isFound)
    }

    /// Decodes the first frames of an animation, and a preview of the first half.
    private static func play(_ bytes: [UInt8], in pool: HelperPool, name: String) throws {
        let context = JobContext()
        let error = Programs.error { () throws(EideticError) in
            let animation = try SandboxedAnimation(
                bytes,
                isComplete: true,
                options: .init(),
                limits: limits,
                pool: pool,
                context: context
            )
            for index in 0..<min(3, animation?.info.frameCount ?? 0) {
                _ = try animation?.frame(at: index, context: context)
            }
            return animation?.info.frameCount
        }
        #expect(error?.code != .decoderFailed, "\(name): \(error as Any)")
        let preview = SandboxedPreview(options: .init(), limits: limits, pool: pool, context: context)
        let half = Array(bytes.prefix(bytes.count / 2))
        let other = Programs.error { () throws(EideticError) in try preview.preview(of: half) }
        #expect(other?.code != .decoderFailed, "\(name): \(other as Any)")
    }
}
