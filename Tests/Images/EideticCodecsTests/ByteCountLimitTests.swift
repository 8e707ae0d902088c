@testable import EideticCodecs
import EideticCore
import EideticTestSupport
import Glibc
import Testing

@Suite("Encoding within a number of bytes", .timeLimit(.minutes(5)))
struct ByteCountLimitTests {
    private func encode(_ image: Image, as format: ImageFormat, limit: Int) throws -> [UInt8] {
        var options = EncodeOptions()
        options.maximumByteCount = ByteCount(limit)
        return try ImageEncoder.encode(image, as: format, options: options)
    }

    @Test(
        "F05 the largest file size is met within 2 % below, for photographs; in the steps of WebP within 4 %",
        .needsCorpus,
        arguments: [(ImageFormat.jpeg, 0.98), (.png, 0.98), (.webp, 0.96)]
    )
    func photographs(_ format: ImageFormat, part leastPart: Double) throws {
        for number in ["3", "23"] {
            let image = try ImageDecoder.decode(try Corpus.bytes(of: "kodak/kodak/\(number).png"))
            let full = try ImageEncoder.encode(image, as: format).count
            for part in [0.8, 0.5, 0.25, 0.15] {
                let limit = Int(Double(full) * part), count = try encode(image, as: format, limit: limit).count
                #expect(count <= limit && Double(count) >= leastPart * Double(limit), "\(number): \(count) of \(limit)")
            }
        }
    }

    @Test("F05 a file that is no larger than the limit is the one without a limit", arguments: [-1, 0, 1])
    func unchanged(excess: Int) throws {
        let image = TestImages.makeImage(try TestImages.photo(width: 128, height: 96))
        for format in [ImageFormat.jpeg, .webp, .png, .gif] {
            let full = try ImageEncoder.encode(image, as: format)
            let limited = try encode(image, as: format, limit: full.count + excess)
            #expect((limited == full) == (excess >= 0) && limited.count <= full.count + excess, "\(format)")
        }
    }

    @Test(
        "F05 the formats of HEIF keep the limit, in coarser steps",
        .needsCorpus,
        arguments: [ImageFormat.avif, .heic]
    )
    func heif(_ format: ImageFormat) throws {
        guard ImageEncoder.supportedFormats.contains(format) else { return }
        let options = DecodeOptions.with { $0.size = PixelSize(width: 256, height: 256) }
        let image = try ImageDecoder.decode(try Corpus.bytes(of: "kodak/kodak/23.png"), options: options)
        let full = try ImageEncoder.encode(image, as: format).count
        for part in [0.6, 0.3] {
            let limit = Int(Double(full) * part), count = try encode(image, as: format, limit: limit).count
            #expect(count <= limit && Double(count) >= 0.8 * Double(limit), "\(count) of \(limit)")
        }
    }

    @Test("F05 a limit that no file can keep is an error that names it") func impossible() throws {
        let image = TestImages.makeImage(try TestImages.photo(width: 64, height: 64))
        for format in [ImageFormat.jpeg, .webp, .png, .gif] {
            let error = #expect(throws: EideticError.self) { try encode(image, as: format, limit: 20) }
            #expect(error?.code == .encodingFailed && error?.message.contains("20 bytes") == true)
        }
    }

    @Test("F05 the search encodes four times at most, whatever the curve", arguments: 0..<40)
    func attempts(seed: UInt64) throws {
        var random = Generator(seed: seed), count = 0
        let growth = Double.random(in: 1...8, using: &random), bend = Double.random(in: -0.5...0.5, using: &random)
        let limit = Int.random(in: 3_000...80_000, using: &random)
        let result = try ByteCountSearch(limit: limit, range: 0.01...1, slope: 4).run { parameter in
            count += 1
            let size = log(100_000) + growth * (parameter - 1) + bend * growth * (parameter - 1) * (parameter - 1)
            return [UInt8](repeating: 0, count: Int(exp(size)))
        }
        #expect(count <= ByteCountSearch.maximumAttemptCount)
        let smallest = exp(log(100_000) - 0.99 * growth + 0.98 * bend * growth)
        if smallest < 0.9 * Double(limit) {
            #expect(Double(result?.count ?? 0) >= 0.98 * Double(limit) && result?.count ?? 0 <= limit)
        }
    }
}
