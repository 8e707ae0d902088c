import EideticCodecs
import EideticCore
import EideticSandbox
import EideticTestSupport
import Testing

@Suite("previews in the sandbox", .timeLimit(.minutes(2)))
struct SandboxedPreviewTests {
    private static func preview(in pool: HelperPool, limits: DecodeLimits = .standard) -> SandboxedPreview {
        SandboxedPreview(options: DecodeOptions(), limits: limits, pool: pool, context: JobContext())
    }

    @Test(
        "F07 L10 previews have the pixels of this process, and each byte is decoded once",
        arguments: [ImageFormat.jpeg, .png]
    )
    func eachByteOnce(format: ImageFormat) throws {
        let bytes = try ImageEncoder.encode(.gradient(PixelSize(width: 300, height: 200)), as: format)
        let pool = Programs.pool(), sandboxed = Self.preview(in: pool)
        let own = PreviewDecoder(options: DecodeOptions(), limits: .standard, context: JobContext())
        var visible = 0
        for part in 1...20 {
            let prefix = Array(bytes.prefix(bytes.count * part / 20))
            let expected = try? own.preview(of: prefix), image = try? sandboxed.preview(of: prefix)
            #expect(image?.bytes == expected?.bytes && image?.isPartial == expected?.isPartial, "part \(part)")
            if image != nil { visible += 1 }
        }
        #expect(visible > 10)
        #expect(sandboxed.decodedByteCount <= bytes.count && sandboxed.decodedByteCount > bytes.count / 2)
        // What is whole is not kept, and is there again when it is asked for again.
        #expect(pool.startedCount == 1 && pool.keptDecoderCount == 0)
        #expect(try sandboxed.preview(of: bytes)?.bytes == own.preview(of: bytes)?.bytes)
    }

    @Test("F07 L10 each byte of a large PNG is decoded once: its previews keep one canvas, not three")
    func largeImages() throws {
        let bytes = try Samples.png(4_000, 3_000), sandboxed = Self.preview(in: Programs.pool())
        for part in 1...3 { _ = try sandboxed.preview(of: Array(bytes.prefix(bytes.count * part / 4))) }
        #expect(sandboxed.decodedByteCount <= bytes.count && sandboxed.decodedByteCount > bytes.count / 2)
    }

    @Test("F07 previews go on in another process when theirs is killed")
    func killedProcess() throws {
        let bytes = try Samples.png(300, 200), pool = Programs.pool(), sandboxed = Self.preview(in: pool)
        let own = PreviewDecoder(options: DecodeOptions(), limits: .standard, context: JobContext())
        for part in 1...4 {
            let prefix = Array(bytes.prefix(bytes.count * part / 5))
            let expected = try own.preview(of: prefix), image = try sandboxed.preview(of: prefix)
            #expect(image?.bytes == expected?.bytes)
            if part == 2 { Programs.kill(try #require(pool.keepingIdentifiers.first)) }
        }
    }

    @Test("F07 each preview has the time limit of its own call")
    func deadlines() throws {
        var limits = DecodeLimits()
        limits.duration = .milliseconds(300)
        let preview = Self.preview(in: Programs.pool(attack: "loop"), limits: limits), bytes = try Samples.png(9, 9)
        for _ in 0..<2 {
            let error = Programs.error { () throws(EideticError) in try preview.preview(of: bytes) }
            #expect(error?.code == .limitExceeded, "\(error as Any)")
        }
    }

    @Test("F07 metadata are read in the sandbox as in this process", .needsCorpus)
    func metadata() throws {
        let pool = Programs.pool()
        var count = 0
        for (index, name) in try Corpus.files().enumerated() where index % 31 == 0 {
            let bytes = try Corpus.bytes(of: name)
            let expected = Result { () throws(EideticError) in try ImageMetadata(withPartsOf: bytes) }
            let metadata = Result { () throws(EideticError) in try pool.metadata(of: bytes) }
            #expect((try? metadata.get()) == (try? expected.get()), "\(name)")
            if (try? expected.get()) != ImageMetadata() { count += 1 }
        }
        #expect(count > 3)
    }
}
