/// The markers of a JPEG with their segments, up to its first scan or its end.
///
/// As in all decoders, bytes between segments are ignored.
///
/// - SeeAlso: ITU-T T.81, annex B.
package struct JPEGMarkers: Sequence, IteratorProtocol {
    package struct Marker {
        package let number: UInt8
        /// The places of the marker and its segment, as far as that is long, which may be beyond the bytes.
        package let range: Range<Int>
        /// The segment without its length; `nil` if the marker has none, or the bytes do not contain all of it.
        package let content: UnsafeRawBufferPointer?
    }

    private let bytes: UnsafeRawBufferPointer
    private var offset: Int
    private var isAtEnd = false

    /// Creates the sequence from an offset on: by default, behind the start of the image.
    package init(_ bytes: UnsafeRawBufferPointer, from offset: Int = 2) {
        self.bytes = bytes
        self.offset = offset
    }

    /// Returns the next marker; `nil` behind the start of a scan or the end of the image, and if there is none.
    package mutating func next() -> Marker? {
        while !isAtEnd, offset + 1 < bytes.count {
            let start = offset, number = bytes[start + 1]
            guard bytes[start] == 0xff, number != 0xff, number != 0 else {
                offset += 1
                continue
            }
            isAtEnd = number == 0xd9 || number == 0xda
            guard number != 1, !(0xd0...0xda).contains(number) else {
                offset += 2
                return Marker(number: number, range: start..<offset, content: nil)
            }
            // As in libjpeg, a length below 2 is that of an empty segment.
            let length = bytes.bigEndian16(at: start + 2).map { Swift.max($0, 2) }
            offset += 2 + (length ?? 2)
            let content = length.flatMap { bytes.slice(at: start + 4, count: $0 - 2) }
            return Marker(number: number, range: start..<offset, content: content)
        }
        return nil
    }
}
