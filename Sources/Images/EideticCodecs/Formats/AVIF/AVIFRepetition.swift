#if AVIF
/// A reader of the number of times that an AVIF sequence plays.
///
/// libavif before version 1.0 does not read it.
///
/// - SeeAlso: ISO/IEC 14496-12, 8.3.2 (`tkhd`) and 8.6.6 (`elst`, with the flag RepeatEdits).
enum AVIFRepetition {
    /// Returns the loop count of the first colour track; `nil` if it plays for ever, or states no count.
    ///
    /// An edit that repeats plays until the duration of its track is over.
    static func loopCount(of bytes: UnsafeRawBufferPointer) -> Int? {
        let tracks = bytes.box("moov")?.boxes(named: "trak") ?? []
        guard let track = tracks.first(where: { $0.box("tref", "auxl") == nil }), let list = track.box("edts", "elst"),
            let flags = list.bigEndian32(at: 0)
        else { return nil }
        guard flags & 1 == 1 else { return 1 }
        guard list.bigEndian32(at: 4) == 1, let edit = duration(in: list, at: 8, or: 8),
            let total = duration(in: track.box("tkhd"), at: 20, or: 28), edit > 0, total < .max
        else { return nil }
        let (whole, rest) = total.quotientAndRemainder(dividingBy: edit)
        return Int(exactly: whole).map { max(1, $0 + (rest > 0 ? 1 : 0)) }
    }

    /// Returns a duration that has 32 bits in version 0 of a box, and 64 in version 1; a box of ones is `.max`.
    private static func duration(in box: UnsafeRawBufferPointer?, at short: Int, or long: Int) -> UInt64? {
        guard let box, box.uint8(at: 0) == 1 else {
            return box?.bigEndian32(at: short).map { $0 == UInt32.max ? .max : UInt64($0) }
        }
        guard let high = box.bigEndian32(at: long), let low = box.bigEndian32(at: long + 4) else { return nil }
        return UInt64(high) << 32 | UInt64(low)
    }
}
#endif
