package import EideticCore

/// The small copy of its image that a camera writes into the EXIF block of a JPEG.
package struct JPEGThumbnail {
    /// The copy as a file of its own, with the orientation of the image, and its profile unless it has one.
    package let file: [UInt8]
    /// The upright size of the image.
    private let sourceSize: PixelSize

    /// Finds the copy in the first bytes of an image; no library reads them.
    ///
    /// One that has other proportions, or belongs to an image of another size, shows what the image was before somebody
    /// changed it, or has black bars.
    ///
    /// - Returns: `nil` if there is none that can be shown, or more bytes are needed.
    package init?(in bytes: [UInt8]) {
        let found = bytes.withUnsafeBytes { bytes -> (file: [UInt8], image: JPEGSegments)? in
            guard bytes.bigEndian16(at: 0) == 0xffd8, let image = try? JPEGSegments(bytes), let size = image.size,
                let exif = image.exif, let thumbnail = ExifBlock(Array(exif))?.thumbnail(ofImage: size)
            else { return nil }
            let isLike = thumbnail.withUnsafeBytes { Self.isCopy($0, of: size) }
            return isLike ? (thumbnail, image) : nil
        }
        guard let (thumbnail, image) = found, let size = image.size else { return nil }
        sourceSize = image.orientation.swapsDimensions ? size.transposed : size
        // A block with the orientation alone: entry 0x112, a short.
        let block: [UInt8] = [0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(image.orientation.rawValue)]
        let segment = Array("Exif\0\0MM".utf8) + block + [UInt8](repeating: 0, count: 6)
        let profile = Self.profile(of: image, for: thumbnail)
        file = [0xff, 0xd8, 0xff, 0xe1, 0, UInt8(segment.count + 2)] + segment + profile + thumbnail.dropFirst(2)
    }

    /// Returns the segments of the image's profile; none for a copy that has a profile.
    private static func profile(of image: JPEGSegments, for copy: [UInt8]) -> [UInt8] {
        guard copy.withUnsafeBytes({ try? JPEGSegments($0) })?.iccProfile == nil, let profile = image.iccProfile else {
            return []
        }
        return (try? JPEGMetadata.segments(of: ImageMetadata(iccProfile: profile))) ?? []
    }

    /// Returns whether a file is a smaller JPEG of the same proportions, but for a pixel.
    private static func isCopy(_ file: UnsafeRawBufferPointer, of size: PixelSize) -> Bool {
        guard file.bigEndian16(at: 0) == 0xffd8, let small = try? JPEGSegments(file).size,
            small.width < size.width, small.height < size.height
        else { return false }
        let difference = abs(small.width * size.height - small.height * size.width)
        return difference <= max(size.width, size.height)
    }

    /// Returns the decoded copy as a preview of the image.
    package func preview(_ copy: Image) -> Image {
        var preview = Image(frames: copy.frames, format: .jpeg, sourceSize: sourceSize, scale: copy.scale)
        preview.attributes.isPartial = true
        return preview
    }
}
