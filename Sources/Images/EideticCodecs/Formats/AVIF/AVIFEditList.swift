#if AVIF
/// A writer of the number of times that an AVIF sequence plays, which libavif before version 1.0 does not write.
///
/// Each track gets an edit list with one edit, which repeats for the duration of the track, as from later versions.
///
/// - SeeAlso: ISO/IEC 14496-12, 8.6.6 (`elst`).
enum AVIFEditList {
    /// Returns a sequence with edit lists.
    ///
    /// - Parameters:
    ///   - file: The sequence.
    ///   - loopCount: The number of times; `nil` for ever.
    /// - Returns: The file itself if it has edit lists, or another layout than that of libavif.
    static func inserted(into file: [UInt8], loopCount: Int?) -> [UInt8] {
        guard let layout = file.span.withUnsafeBytes({ AVIFSequenceLayout($0) }) else { return file }
        var result = file
        let growth = layout.tracks.count * byteCount
        for offset in layout.dataOffsets { result.add(growth, at: offset) }
        result.add(growth, at: layout.movieSize)
        result.write(total(layout.movieLength, loopCount: loopCount), at: layout.movieDuration)
        for track in layout.tracks.reversed() {
            result.add(byteCount, at: track.size)
            result.write(total(track.length, loopCount: loopCount), at: track.duration)
            result.insert(contentsOf: box(length: track.length), at: track.headerEnd)
        }
        return result
    }

    private static let byteCount = 44

    private static func box(length: UInt64) -> [UInt8] {
        let edit = bytes(of: length) + bytes(of: UInt64(0)) + [0, 1, 0, 0]
        let list = bytes(of: UInt32(36)) + "elst".utf8 + [1, 0, 0, 1] + bytes(of: UInt32(1)) + edit
        return bytes(of: UInt32(44)) + "edts".utf8 + list
    }

    private static func total(_ length: UInt64, loopCount: Int?) -> UInt64 {
        guard let count = loopCount.flatMap(UInt64.init(exactly:)) else { return .max }
        let (total, overflow) = length.multipliedReportingOverflow(by: count)
        return overflow ? .max : total
    }

    fileprivate static func bytes(of value: some FixedWidthInteger) -> [UInt8] {
        (1...value.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> (value.bitWidth - 8 * $0)) }
    }
}

extension [UInt8] {
    /// Adds to the big-endian 32-bit integer at `offset`.
    fileprivate mutating func add(_ amount: Int, at offset: Int) {
        let value = self[offset..<offset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        replaceSubrange(offset..<offset + 4, with: AVIFEditList.bytes(of: value &+ UInt32(truncatingIfNeeded: amount)))
    }

    fileprivate mutating func write(_ value: UInt64, at offset: Int) {
        replaceSubrange(offset..<offset + 8, with: AVIFEditList.bytes(of: value))
    }
}
#endif
