import EideticCore

/// A file without its metadata, whose pixels keep their bytes.
package enum OriginalFile {
    /// Returns a JPEG without its metadata, further images and what follows the image.
    ///
    /// The pixels need, and keep, the colour profile, the kind of inks, and the orientation, unless it is upright.
    ///
    /// - Parameters:
    ///   - bytes: The file.
    ///   - metadata: The EXIF and XMP that it has instead; by default, none.
    /// - Returns: `nil` if the file is no JPEG, is damaged, or ends too early; or if `metadata` have another
    ///   orientation.
    package static func strippedJPEG(_ bytes: [UInt8], metadata: ImageMetadata? = nil) -> [UInt8]? {
        bytes.withUnsafeBytes { file in
            guard let segments = try? JPEGSegments(file), segments.isHeaderComplete else { return nil }
            let kept = ImageMetadata(
                exif: metadata?.exif ?? (segments.orientation == .up ? nil : exif(of: segments.orientation)),
                xmp: metadata?.xmp.map { XMPPacket.current($0) }
            )
            let orientation = kept.exif?.withUnsafeBytes { Exif.orientation(in: $0) } ?? .up
            guard orientation == segments.orientation, let added = try? JPEGMetadata.segments(of: kept) else {
                return nil
            }
            return strippedJPEG(file, adding: added)
        }
    }

    private static func strippedJPEG(_ file: UnsafeRawBufferPointer, adding segments: [UInt8]) -> [UInt8]? {
        var result: [UInt8] = [0xff, 0xd8]
        var offset = 2
        if file.uint8(at: 3) == 0xe0, let length = file.bigEndian16(at: 4) {
            // The segment of JFIF is the first.
            guard let jfif = file.slice(at: 2, count: length + 2) else { return nil }
            result += jfif
            offset += length + 2
        }
        result += segments
        while let start = file.uint8(at: offset), let marker = file.uint8(at: offset + 1) {
            guard start == 0xff else { return nil }
            if marker == 0xff {
                offset += 1
                continue
            }
            if marker == 0xd9 { return result + [0xff, 0xd9] }
            guard let length = file.bigEndian16(at: offset + 2), length >= 2,
                let segment = file.slice(at: offset, count: length + 2)
            else { return nil }
            if isNeeded(segment, marker: marker) { result += segment }
            offset += length + 2
            guard marker == 0xda else { continue }
            let end = endOfScan(in: file, from: offset)
            guard let scan = file.slice(at: offset, count: end - offset) else { return nil }
            result += scan
            offset = end
        }
        return nil
    }

    private static func isNeeded(_ segment: UnsafeRawBufferPointer, marker: Int) -> Bool {
        switch marker {
        case 0xe2: segment.contains("ICC_PROFILE\0", at: 4)
        case 0xee: segment.contains("Adobe", at: 4)
        case 0xe0...0xef, 0xfe: false
        default: true
        }
    }

    /// Returns the offset of the first marker behind a scan; within it, FF is followed by 0 or the number of a restart.
    private static func endOfScan(in file: UnsafeRawBufferPointer, from start: Int) -> Int {
        var offset = start
        while offset + 1 < file.count {
            if file[offset] == 0xff, file[offset + 1] != 0, !(0xd0...0xd7).contains(file[offset + 1]) { return offset }
            offset += 1
        }
        return file.count
    }

    /// Returns a block with the orientation alone.
    private static func exif(of orientation: ImageOrientation) -> [UInt8] {
        Array("MM\0*".utf8)
            + [0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(orientation.rawValue), 0, 0, 0, 0, 0, 0]
    }

    /// Returns a still PNG without metadata.
    ///
    /// - Returns: `nil` if the file is no PNG, is damaged, is an animation, is turned, or has other colours than sRGB
    ///   of at most 8 bits.
    package static func strippedPNG(_ bytes: [UInt8]) -> [UInt8]? {
        bytes.withUnsafeBytes { file in
            guard let structure = try? PNGStructure(file), structure.isComplete, structure.depth <= 8,
                structure.orientation == .up, !structure.announcesFrames, !structure.isOtherFrame,
                structure.colourSpace == nil
            else { return nil }
            var writer = PNGChunkWriter()
            for chunk in PNGChunks(file) where ["IHDR", "PLTE", "tRNS", "sRGB", "IDAT", "IEND"].contains(chunk.name) {
                writer.append(chunk.name, content: chunk.content)
                if chunk.name == "IEND" { break }
            }
            return writer.bytes
        }
    }
}
