#if AVIF
import EideticCore

/// The position of the first frame in an AVIF sequence, from the tables of its tracks.
///
/// - SeeAlso: ISO/IEC 14496-12, 8.7.
struct AVIFFrameIndex: FrameIndex {
    private(set) var isStill = false
    private(set) var wholeFrameCount = 0
    let isComplete = false
    /// The offset behind the first frame of every track.
    private var end: Int?

    var isAnimated: Bool { end != nil }

    mutating func update(_ bytes: UnsafeRawBufferPointer, isFileComplete: Bool) throws(EideticError) {
        if end == nil { findFrame(in: bytes) }
        if let end, end <= bytes.count { wholeFrameCount = 1 }
    }

    private mutating func findFrame(in bytes: UnsafeRawBufferPointer) {
        guard let type = bytes.box("ftyp") else { return }
        guard String(decoding: type, as: UTF8.self).contains("avis") else { return isStill = true }
        guard let movie = bytes.box("moov") else { return }
        let ends = movie.boxes(named: "trak").compactMap(Self.firstSampleEnd)
        end = ends.max()
        isStill = ends.isEmpty
    }

    private static func firstSampleEnd(of track: UnsafeRawBufferPointer) -> Int? {
        guard let table = track.box("mdia", "minf", "stbl"), let sizes = table.box("stsz"),
            let common = sizes.bigEndian32(at: 4), let size = common > 0 ? common : sizes.bigEndian32(at: 12)
        else { return nil }
        if let start = table.box("stco")?.bigEndian32(at: 8) { return start + size }
        guard let offsets = table.box("co64"), offsets.bigEndian32(at: 8) == 0 else { return nil }
        return offsets.bigEndian32(at: 12).map { $0 + size }
    }
}
#endif
