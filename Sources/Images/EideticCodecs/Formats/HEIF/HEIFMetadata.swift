#if AVIF || HEIF

/// The metadata in the items of a HEIF file.
///
/// - SeeAlso: ISO/IEC 23008-12, annex A.2 and A.3; ISO/IEC 14496-12, 12.1.5.
enum HEIFMetadata {
    static func read(_ file: UnsafeRawBufferPointer) -> ImageMetadata {
        guard let index = HEIFItemIndex(file) else { return ImageMetadata() }
        let profile = index.properties(of: index.primaryItem, named: "colr").first { colour in
            colour.contains("prof") || colour.contains("rICC")
        }
        return ImageMetadata(
            exif: index.items(ofType: "Exif").lazy.compactMap { index.data(of: $0).flatMap(ExifBlock.content) }.first,
            xmp: index.items(ofType: "mime").lazy.compactMap { index.data(of: $0) }.first(where: isXMP),
            iccProfile: profile.map { Array($0.dropFirst(4)) }
        )
    }

    private static func isXMP(_ item: [UInt8]) -> Bool {
        String(decoding: item.prefix(512), as: UTF8.self).contains("xmpmeta")
    }
}
#endif
