import EideticCodecs
import EideticCore
import EideticTestSupport
import FoundationEssentials

/// An entry of the corpus's `truth.jsonl`: properties of a file on which several other decoders agree.
struct GroundTruth: Decodable, Sendable, CustomStringConvertible {
    let path: String
    let kind: String
    let format: String
    let bytes: Int
    let width: Int?
    let height: Int?
    let grid: String?
    let tolerance: Int?
    /// The number of frames, their durations in milliseconds as stored, and the number of loops as stored.
    let frames: Int?
    let durations: [Double?]?
    let loops: Int?
    /// The premultiplied means of the first frames in hexadecimal digits, whether decoders agree on them, and by how
    /// much they differ.
    let frameMeans: [String]?
    let frameMeansAgree: Bool?
    let frameSpread: Int?
    /// A Boolean value indicating whether the animation breaks a rule, so that its default image is as right.
    let isDamagedAnimation: Bool?

    private enum CodingKeys: String, CodingKey {
        case path, kind, format, bytes, grid, frames
        case durations = "durations_ms"
        case loops = "loop"
        case frameMeans = "frame_means"
        case frameMeansAgree = "frames_agree"
        case frameSpread = "frame_spread"
        case isDamagedAnimation = "anim_damaged"
        case width = "w"
        case height = "h"
        case tolerance = "tol"
    }

    var description: String { path }

    /// The size in pixels, before EXIF orientation.
    var size: PixelSize? {
        guard let width, let height else { return nil }
        return PixelSize(width: width, height: height)
    }

    /// All entries; empty without a corpus.
    static let all: [GroundTruth] = {
        guard Corpus.directory != nil, let bytes = try? Corpus.bytes(of: "truth.jsonl") else { return [] }
        return bytes.split(separator: UInt8(ascii: "\n")).compactMap {
            try? JSONDecoder().decode(GroundTruth.self, from: Data($0))
        }
    }()

    /// Returns the entries of the formats that this build decodes.
    static func files(of formats: [ImageFormat], kinds: Set<String>) -> [GroundTruth] {
        let built = formats.filter { ImageDecoder.supportedFormats.contains($0) }
        let names = Set(built.flatMap { Self.names[$0] ?? [$0.rawValue] })
        return all.filter { entry in
            names.contains(entry.format) && kinds.contains(refused.contains(entry.path) ? "disputed" : entry.kind)
        }
    }

    /// Files that libavif 1.2 refuses: a crop that is not marked as essential, a tile that colours and alpha share
    /// (libheif 1.23 refuses it, too), and bytes behind a gain map of a version that has none.
    private static let refused: Set = [
        "libavif/data/clap_irot_imir_non_essential.avif",
        "libavif/data/color_grid_alpha_grid_tile_shared_in_dimg.avif",
        "libavif/data/supported_gainmap_writer_version_with_extra_bytes.avif",
        // Other decoders refuse these, Chromium 156 shows them.
        "bmpsuite/bmp/bmpsuite/questionable/rgb24rle24.bmp", "bmpsuite/bmp/bmpsuite/questionable/rgba32abf.bmp",
    ]

    private static let names: [ImageFormat: [String]] = [
        .ico: ["ico", "cur"], .heic: ["heif"], .jpegxl: ["jxl"],
    ]
}

/// Returns the premultiplied means of 8 x 8 cells of an image, four bytes each, as `truth.jsonl` has them.
func cellMeans(of pixels: PixelBuffer) -> [UInt8] {
    means(of: pixels, rows: cellRanges(length: pixels.size.height), columns: cellRanges(length: pixels.size.width))
}

/// Returns the premultiplied mean of a whole image, four bytes.
func mean(of pixels: PixelBuffer) -> [UInt8] {
    means(of: pixels, rows: [0..<pixels.size.height], columns: [0..<pixels.size.width])
}

private func means(of pixels: PixelBuffer, rows: [Range<Int>], columns: [Range<Int>]) -> [UInt8] {
    let isStraight = pixels.alpha == .straight
    return pixels.withUnsafeBytes { bytes in
        rows.flatMap { rows in
            columns.flatMap { columns in
                // Loops over a pointer: in debug builds calls of generic functions are slow.
                var sums = (0.0, 0.0, 0.0, 0.0), y = rows.lowerBound
                while y < rows.upperBound {
                    var at = y * pixels.bytesPerRow + 4 * columns.lowerBound
                    let end = y * pixels.bytesPerRow + 4 * columns.upperBound
                    while at < end {
                        let weight = isStraight ? Double(bytes[at + 3]) / 255 : 1
                        sums.0 += Double(bytes[at]) * weight
                        sums.1 += Double(bytes[at + 1]) * weight
                        sums.2 += Double(bytes[at + 2]) * weight
                        sums.3 += Double(bytes[at + 3])
                        at += 4
                    }
                    y += 1
                }
                let count = Double(rows.count * columns.count)
                return [sums.0, sums.1, sums.2, sums.3].map { UInt8(min(255, ($0 / count + 0.5).rounded(.down))) }
            }
        }
    }
}

private func cellRanges(length: Int) -> [Range<Int>] {
    (0..<8).map { $0 * length / 8..<max($0 * length / 8 + 1, ($0 + 1) * length / 8) }
}

/// Returns the largest difference between cell means and their hexadecimal reference.
func maximumDifference(_ grid: [UInt8], hexadecimal hex: String) -> Int {
    let digits = Array(hex.utf8).map { Int($0) - ($0 < 58 ? 48 : 87) }
    guard digits.count == 2 * grid.count else { return .max }
    return grid.indices.map { abs(Int(grid[$0]) - digits[2 * $0] * 16 - digits[2 * $0 + 1]) }.max() ?? 0
}

extension DecodeOptions {
    /// Options that return the pixels as stored.
    static var stored: DecodeOptions {
        var options = DecodeOptions()
        options.appliesOrientation = false
        options.convertsToSRGB = false
        options.premultipliesAlpha = false
        return options
    }
}
