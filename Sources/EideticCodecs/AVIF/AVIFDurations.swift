#if AVIF
import EideticCore

/// How long the frames of an AVIF sequence are shown.
///
/// libavif is not asked: it counts from the first frame on for each, so a file of 100 kB that announces 100,000 frames
/// would take many seconds.
///
/// - SeeAlso: ISO/IEC 14496-12, 8.4.2 (`mdhd`) and 8.6.1.2 (`stts`).
enum AVIFDurations {
    /// The durations of `count` frames of the first track of colours; zero where the file does not tell.
    static func read(_ bytes: UnsafeRawBufferPointer, count: Int) -> [Duration] {
        let tracks = boxes("trak", in: first(["moov"], in: bytes))
        let colours = tracks.first { boxes("auxl", in: first(["tref"], in: $0)).isEmpty }
        let ticks = frames(first(["mdia", "minf", "stbl", "stts"], in: colours), count)
        let perSecond = ticksPerSecond(first(["mdia", "mdhd"], in: colours))
        return ticks.map { ticks in
            perSecond > 0 ? .seconds(min(Double(ticks) / Double(perSecond), 1e6)) : .zero
        }
    }

    private static func ticksPerSecond(_ header: UnsafeRawBufferPointer?) -> Int {
        header?.big32(header?.uint8(0) == 1 ? 20 : 12) ?? 0
    }

    /// Runs of frames with the same duration, as a list of `count` frames; the last run goes on to the end.
    private static func frames(_ table: UnsafeRawBufferPointer?, _ count: Int) -> [Int] {
        var durations: [Int] = []
        var offset = 8
        while durations.count < count, let run = table?.big32(offset), let ticks = table?.big32(offset + 4) {
            durations += repeatElement(ticks, count: min(run, count - durations.count))
            offset += 8
        }
        return durations + repeatElement(durations.last ?? 0, count: count - durations.count)
    }

    /// The content of a box that lies within others.
    private static func first(_ path: [StaticString], in bytes: UnsafeRawBufferPointer?) -> UnsafeRawBufferPointer? {
        path.reduce(bytes) { boxes($1, in: $0).first }
    }

    /// The contents of all boxes of this name.
    private static func boxes(_ name: StaticString, in bytes: UnsafeRawBufferPointer?) -> [UnsafeRawBufferPointer] {
        guard let bytes else { return [] }
        var found: [UnsafeRawBufferPointer] = []
        var offset = 0
        while let short = bytes.big32(offset) {
            var length = short, head = 8
            if short == 0 { length = bytes.count - offset }
            if short == 1, let high = bytes.big32(offset + 8), let low = bytes.big32(offset + 12), high < 1 << 30 {
                (length, head) = (high << 32 | low, 16)
            }
            guard length >= head, let content = bytes.slice(offset + head, length - head) else { break }
            if bytes.contains(name, at: offset + 4) { found.append(content) }
            offset += length
        }
        return found
    }
}
#endif
