import CDeflate
import EideticCore

/// The metadata in the chunks of a PNG.
///
/// - SeeAlso: PNG (third edition), sections 11.3.2.3, 11.3.3.4 and 11.3.5; XMP part 3, section 1.1.5.
enum PNGMetadata {
    /// The keyword of XMP, and an international text without compression, language and translation.
    private static let xmpHead = Array("XML:com.adobe.xmp".utf8) + [0, 0, 0, 0, 0]
    /// The largest XMP packet or profile that is decompressed.
    private static let maximumCount = ICCProfile.maximumSize

    static func read(_ file: UnsafeRawBufferPointer) -> ImageMetadata {
        var metadata = ImageMetadata()
        metadata.parts = FormatParts.ofPNG(file)
        for chunk in PNGChunks(file) where chunk.isComplete {
            switch chunk.name {
            case "eXIf": metadata.exif = Array(chunk.content)
            case "iTXt": metadata.xmp = metadata.xmp ?? xmp(in: chunk.content)
            case "iCCP": metadata.iccProfile = profile(in: chunk.content)
            default: break
            }
        }
        return metadata
    }

    private static func xmp(in text: UnsafeRawBufferPointer) -> [UInt8]? {
        guard text.contains("XML:com.adobe.xmp\0"), let isCompressed = text.uint8(at: 18) else { return nil }
        // Behind the method of compression there are a language and a translated keyword.
        var rest = text.dropFirst(20)
        for _ in 0..<2 {
            guard let end = rest.firstIndex(of: 0) else { return nil }
            rest = rest[(end + 1)...]
        }
        guard isCompressed != 0 else { return Array(rest) }
        return ZlibStream.inflate(UnsafeRawBufferPointer(rebasing: rest), limit: maximumCount)
    }

    private static func profile(in content: UnsafeRawBufferPointer) -> [UInt8]? {
        guard let end = content.firstIndex(of: 0), end + 2 <= content.count else { return nil }
        return ZlibStream.inflate(UnsafeRawBufferPointer(rebasing: content[(end + 2)...]), limit: maximumCount)
    }

    /// Returns a file that the encoder has written, with metadata.
    ///
    /// - Throws: `outOfMemory`.
    static func bytes(_ file: [UInt8], with metadata: ImageMetadata) throws(EideticError) -> [UInt8] {
        let profile = try metadata.iccProfile.map { profile throws(EideticError) in
            Array("icc\0\0".utf8) + (try ZlibStream.deflate(profile))
        }
        var writer = PNGChunkWriter()
        file.withUnsafeBytes { bytes in
            for chunk in PNGChunks(bytes) {
                // A profile and the mark of sRGB exclude each other.
                if chunk.name != "sRGB" || profile == nil { writer.append(chunk.name, content: chunk.content) }
                guard chunk.name == "IHDR" else { continue }
                if let profile { writer.append("iCCP", content: profile) }
                if let exif = metadata.uprightExif { writer.append("eXIf", content: exif) }
                if let xmp = metadata.xmp { writer.append("iTXt", content: xmpHead + xmp) }
                writer.append(chunks: metadata.parts?.pngChunks ?? [])
            }
        }
        return writer.bytes
    }
}
