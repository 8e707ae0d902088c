#if AVIF
/// The positions in a sequence of libavif that change when boxes are inserted into its tracks.
struct AVIFSequenceLayout {
    /// The positions in one track.
    struct Track {
        /// The position of the box's size.
        let size: Int
        /// The position of the duration in the header, of 64 bits.
        let duration: Int
        /// The position behind the header.
        let headerEnd: Int
        /// The duration itself.
        let length: UInt64
    }

    /// The positions of 32-bit offsets of data behind the movie.
    private(set) var dataOffsets: [Int] = []
    private(set) var tracks: [Track] = []
    /// The position of the size of the movie's box.
    let movieSize: Int
    /// The position of the movie's duration, of 64 bits.
    let movieDuration: Int
    let movieLength: UInt64

    /// Finds the positions; `nil` if the file is no sequence, has an edit list, or another form than libavif gives it.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard let movie = bytes.box("moov"), let header = movie.box("mvhd"), header.uint8(at: 0) == 1,
            let length = header.bigEndian64(at: 24), let start = movie.offset(in: bytes),
            let position = header.offset(in: bytes), bytes.bigEndian32(at: start - 8) == movie.count + 8
        else { return nil }
        movieSize = start - 8
        movieDuration = position + 24
        movieLength = length
        for track in movie.boxes(named: "trak") {
            guard let place = Self.track(track, in: bytes), let offsets = Self.chunkOffsets(of: track, in: bytes) else {
                return nil
            }
            tracks.append(place)
            dataOffsets += offsets
        }
        guard let items = Self.itemOffsets(in: bytes) else { return nil }
        dataOffsets += items
        let end = start + movie.count
        guard !tracks.isEmpty, dataOffsets.allSatisfy({ bytes.bigEndian32(at: $0).map { $0 >= end } ?? false }) else {
            return nil
        }
    }

    private static func track(_ track: UnsafeRawBufferPointer, in bytes: UnsafeRawBufferPointer) -> Track? {
        guard track.box("edts") == nil, let header = track.box("tkhd"), header.uint8(at: 0) == 1,
            let length = header.bigEndian64(at: 28), let start = track.offset(in: bytes),
            let position = header.offset(in: bytes), bytes.bigEndian32(at: start - 8) == track.count + 8
        else { return nil }
        return Track(size: start - 8, duration: position + 28, headerEnd: position + header.count, length: length)
    }

    /// Returns the positions of the entries of a track's `stco` box.
    private static func chunkOffsets(of track: UnsafeRawBufferPointer, in bytes: UnsafeRawBufferPointer) -> [Int]? {
        guard let table = track.box("mdia", "minf", "stbl", "stco"), let start = table.offset(in: bytes),
            let count = table.bigEndian32(at: 4), count == (table.count - 8) / 4
        else { return nil }
        return (0..<count).map { start + 8 + 4 * $0 }
    }

    /// Returns the positions of the offsets in the `iloc` box, which is of version 0 with fields of four bytes; none if
    /// the file has no items.
    private static func itemOffsets(in bytes: UnsafeRawBufferPointer) -> [Int]? {
        guard let meta = bytes.box("meta") else { return [] }
        guard let table = meta.slice(at: 4, count: meta.count - 4)?.box("iloc"), let start = table.offset(in: bytes),
            table.bigEndian32(at: 0) == 0, table.bigEndian16(at: 4) == 0x4400, let count = table.bigEndian16(at: 6)
        else { return nil }
        var positions: [Int] = []
        var offset = 8
        for _ in 0..<count {
            guard let extents = table.bigEndian16(at: offset + 4) else { return nil }
            positions += (0..<extents).map { start + offset + 6 + 8 * $0 }
            offset += 6 + 8 * extents
        }
        return offset == table.count ? positions : nil
    }
}

extension UnsafeRawBufferPointer {
    /// Returns the position of this part in the buffer that it is a part of.
    fileprivate func offset(in whole: UnsafeRawBufferPointer) -> Int? {
        guard let start = baseAddress, let first = whole.baseAddress else { return nil }
        return start - first
    }

    fileprivate func bigEndian64(at offset: Int) -> UInt64? {
        guard let high = bigEndian32(at: offset), let low = bigEndian32(at: offset + 4) else { return nil }
        return UInt64(high) << 32 | UInt64(low)
    }
}
#endif
