#if AVIF

/// A reader of the frame durations of an AVIF sequence.
///
/// Used instead of libavif's function, which counts from the first frame for each frame: a file of 100 kB that declares
/// 100,000 frames would take many seconds.
///
/// - SeeAlso: ISO/IEC 14496-12, 8.4.2 (`mdhd`) and 8.6.1.2 (`stts`).
enum AVIFDurations {
    /// Returns the durations of `count` frames of the first colour track; zero if the file has none.
    static func read(from bytes: UnsafeRawBufferPointer, count: Int) -> [Duration] {
        let tracks = bytes.box("moov")?.boxes(named: "trak") ?? []
        let media = tracks.first { $0.box("tref", "auxl") == nil }?.box("mdia")
        let ticks = frameTicks(in: media?.box("minf", "stbl", "stts"), count: count)
        let ticksPerSecond = ticksPerSecond(in: media?.box("mdhd"))
        return ticks.map { ticks in
            ticksPerSecond > 0 ? .seconds(min(Double(ticks) / Double(ticksPerSecond), 1e6)) : .zero
        }
    }

    private static func ticksPerSecond(in header: UnsafeRawBufferPointer?) -> Int {
        header?.bigEndian32(at: header?.uint8(at: 0) == 1 ? 20 : 12) ?? 0
    }

    /// Returns the ticks of `count` frames from a table of runs; the last run extends to the end.
    private static func frameTicks(in table: UnsafeRawBufferPointer?, count: Int) -> [Int] {
        var durations: [Int] = []
        var offset = 8
        while durations.count < count, let run = table?.bigEndian32(at: offset),
            let ticks = table?.bigEndian32(at: offset + 4)
        {
            durations += repeatElement(ticks, count: min(run, count - durations.count))
            offset += 8
        }
        return durations + repeatElement(durations.last ?? 0, count: count - durations.count)
    }
}
#endif
