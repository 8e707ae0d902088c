public import EideticCore

/// The metadata of an image file that are no pixels.
public struct ImageMetadata: Sendable, Hashable {
    /// The EXIF block, from its TIFF header on; `nil` without one.
    ///
    /// An encoder writes it with the orientation 1, because images are upright when they are encoded, with their size,
    /// and without a thumbnail.
    public var exif: [UInt8]?

    /// The XMP packet; `nil` without one.
    ///
    /// An encoder leaves out the orientation, the size, thumbnails, and what describes further images in the file.
    public var xmp: [UInt8]?

    /// The ICC profile that the pixels belong to; `nil` for sRGB.
    ///
    /// Decoded images are in sRGB, so the profile of their file does not belong to them.
    public var iccProfile: [UInt8]?

    /// The other parts of a JPEG or PNG, for another file of its format; `nil` without such parts.
    package var parts: FormatParts?

    /// Creates metadata; by default there are none.
    public init(exif: [UInt8]? = nil, xmp: [UInt8]? = nil, iccProfile: [UInt8]? = nil) {
        self.exif = exif
        self.xmp = xmp
        self.iccProfile = iccProfile
    }

    /// Reads the metadata of a JPEG, PNG, WebP, AVIF, HEIC, JPEG XL or TIFF file; there are none in other formats, nor
    /// where they are damaged.
    ///
    /// The tags of a TIFF become a block of EXIF. The profile of a JPEG XL or TIFF is not read.
    ///
    /// - Throws: `notAnImage`, `truncated` or `corrupt` if the file is none, and `limitExceeded` if it has too many
    ///   parts.
    public init(of bytes: [UInt8]) throws(EideticError) {
        try self.init(withPartsOf: bytes)
        parts = nil
    }

    /// Reads the metadata of a file with its other parts.
    package init(withPartsOf bytes: [UInt8]) throws(EideticError) {
        self = try bytes.span.withUnsafeBytes { file throws(EideticError) in try Self.read(file) }
    }

    private static func read(_ file: UnsafeRawBufferPointer) throws(EideticError) -> ImageMetadata {
        guard let format = try ImageDecoder.format(of: file, isComplete: true) else { return ImageMetadata() }
        switch format {
        case .jpeg: return try JPEGMetadata.read(file)
        case .png: return PNGMetadata.read(file)
        case .webp: return WebPMetadata.read(file)
        #if AVIF || HEIF
        case .avif, .heic: return HEIFMetadata.read(file)
        #endif
        #if JPEGXL
        case .jpegxl: return JPEGXLFile.metadata(of: file)
        #endif
        case .tiff: return ExifTags.metadata(ofTIFF: file)
        default: return ImageMetadata()
        }
    }

    /// Returns the metadata of an image of this size that is encoded: without what held for its file alone, such as the
    /// thumbnail, the size, and what XMP says of further images in the file.
    func current(for size: PixelSize) -> ImageMetadata {
        var metadata = self
        if let exif, var block = ExifBlock(exif) {
            block.setUpright()
            block.setSize(size)
            block.removeThumbnail()
            metadata.exif = block.bytes
        }
        metadata.xmp = xmp.map { XMPPacket.current($0) }
        return metadata
    }

    /// Returns the metadata of an image of this size that a format can hold: JPEG has a segment for EXIF, and one for
    /// XMP.
    ///
    /// - Returns: What is left, and the names of the parts that are too large.
    package func fitting(_ format: ImageFormat, size: PixelSize) -> (metadata: ImageMetadata, tooLarge: [String]) {
        guard format == .jpeg else { return (self, []) }
        var fitting = self
        var names: [String] = []
        let written = current(for: size)
        if !JPEGMetadata.fits(exif: written.exif) {
            fitting.exif = nil
            names.append("EXIF")
        }
        if !JPEGMetadata.fits(xmp: written.xmp) {
            fitting.xmp = nil
            names.append("XMP")
        }
        return (fitting, names)
    }

    /// The metadata without the position where the image was taken, and without a block that cannot be read: it may
    /// have one.
    package var withoutPosition: ImageMetadata {
        var metadata = self
        // Texts can name a place, too.
        metadata.parts = nil
        metadata.exif = exif.flatMap { exif in
            guard var block = ExifBlock(exif), block.removePosition() else { return nil }
            return block.bytes
        }
        metadata.xmp = xmp.flatMap { XMPPacket.withoutPosition($0) }
        return metadata
    }

    /// Returns the metadata with the tags of these numbers and the orientation alone, without XMP and the profile.
    ///
    /// - Parameters:
    ///   - tags: The numbers of tags of the image and of the photograph.
    ///   - keepsPosition: A Boolean value indicating whether the place where the image was taken is kept, too.
    /// - Returns: The metadata that are left.
    package func keeping(tags: Set<Int>, keepsPosition: Bool) -> ImageMetadata {
        ImageMetadata(exif: exif.flatMap { ExifTags.block(of: $0, keeping: tags, keepsPosition: keepsPosition) })
    }

    /// The EXIF block with the orientation 1.
    var uprightExif: [UInt8]? { exif.map(Exif.upright) }
}
