import Eidetic
import EideticTestSupport
import Testing

@Suite("Formats whose libraries cannot be interrupted", .timeLimit(.minutes(1)))
struct DetachedDecodingTests {
    /// A TIFF of one grey pixel.
    private static let tiff: [UInt8] = {
        let entries: [(tag: UInt8, value: UInt8)] = [
            (0, 1), (1, 1), (2, 8), (3, 1), (6, 1), (17, 110), (21, 1), (22, 1), (23, 1),
        ]
        let head = Array("II".utf8) + [42, 0, 8, 0, 0, 0, UInt8(entries.count), 0]
        // Tags from 256 on, each with one value of 32 bits.
        return head + entries.flatMap { [$0.tag, 1, 4, 0, 1, 0, 0, 0, $0.value, 0, 0, 0] }
            + Array(repeating: 0, count: 12)
    }()

    @Test("C18 an image of such a format that keeps its threads busy does not delay other formats", arguments: [1, 2])
    func otherFormats(threadCount: Int) async throws {
        var configuration = ImagePipeline.Configuration()
        configuration.maximumConcurrentDecodes = threadCount
        let pipeline = ImagePipeline(configuration), proceed = Gate()
        let busy = (0..<threadCount).map { _ in Gate() }
        let tasks = busy.enumerated().map { index, started in
            let transform = BlockingTransform(started: started, proceed: proceed)
            // Bytes that differ are not decoded together.
            let bytes = Self.tiff + [UInt8(index)]
            return Task {
                try await pipeline.image(for: ImageRequest(.bytes(bytes), rendering: .init(transform: transform)))
            }
        }
        for started in busy { await started.wait() }
        let png = try await pipeline.image(for: ImageRequest(.bytes(try TestImage.png(width: 8, height: 6))))
        #expect(png.size == PixelSize(width: 8, height: 6))
        proceed.open()
        for task in tasks { #expect(try await task.value.size == PixelSize(width: 1, height: 1)) }
    }
}
