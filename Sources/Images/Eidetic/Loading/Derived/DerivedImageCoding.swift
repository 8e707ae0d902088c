import EideticCodecs
import EideticStore
import Glibc

/// The conversion between derived images and their bytes on disk.
///
/// Small images are kept as pixels, opaque ones as JPEG of more than 42 dB, all others without loss as PNG.
/// docs/decisions has the figures.
enum DerivedImageCoding {
    struct Encoded: Sendable {
        let bytes: [UInt8]
        let decodingTime: Duration
    }

    /// The largest number of pixels of an image that is kept as pixels.
    static let rawPixelCount = 4_096
    /// The least quality of an image that is kept with loss, as the peak signal-to-noise ratio in decibels.
    static let minimumQuality = 42.0
    private static let qualities = [0.9, 0.96]

    /// Encodes an image, and decodes it again to measure the time and the loss.
    static func encode(_ image: Image, isExact: Bool, limits: DecodeLimits) throws(EideticError) -> Encoded {
        let pixels = image.pixels
        guard pixels.size.pixelCount > rawPixelCount else { return raw(pixels) }
        if !isExact, pixels.alpha == .opaque {
            for quality in qualities {
                let file = try ImageEncoder.encode(image, as: .jpeg, quality: quality)
                let (decoded, time) = try timed { () throws(EideticError) in try decode(file, limits: limits) }
                if likeness(of: decoded.pixels, to: pixels) >= minimumQuality {
                    return Encoded(bytes: file, decodingTime: time)
                }
            }
        }
        let file = try ImageEncoder.encode(image, as: .png)
        let (decoded, time) = try timed { () throws(EideticError) in try decode(file, limits: limits) }
        let isEqual = likeness(of: decoded.pixels, to: pixels) == .infinity
        return isEqual ? Encoded(bytes: file, decodingTime: time) : raw(pixels)
    }

    private static func raw(_ pixels: PixelBuffer) -> Encoded {
        Encoded(bytes: RawPixels.encode(pixels), decodingTime: .nanoseconds(pixels.size.pixelCount / 4))
    }

    /// Decodes a file that ``encode(_:isExact:limits:)`` or an application has made.
    static func decode(_ bytes: [UInt8], limits: DecodeLimits) throws(EideticError) -> Image {
        guard RawPixels.matches(bytes) else { return try ImageDecoder.decode(bytes, limits: limits) }
        guard let pixels = try RawPixels.decode(bytes) else {
            throw EideticError(.corrupt, message: "a derived image of \(bytes.count) bytes does not fit its size")
        }
        return Image(frames: [Image.Frame(pixels: pixels)], format: .png, sourceSize: pixels.size)
    }

    /// Runs a function, and returns its result with the processor time of this thread.
    static func timed<Value>(_ body: () throws(EideticError) -> Value) throws(EideticError) -> (Value, Duration) {
        let start = ProcessorTime.ofThread
        let value = try body()
        return (value, ProcessorTime.ofThread - start)
    }

    /// Returns the peak signal-to-noise ratio in decibels; 0 for images of different sizes.
    static func likeness(of copy: PixelBuffer, to pixels: PixelBuffer) -> Double {
        // A file without alpha is that of pixels which are all opaque; others differ in their fourth bytes.
        guard copy.size == pixels.size, copy.alpha == pixels.alpha || copy.alpha == .opaque else { return 0 }
        let rowSize = 4 * pixels.size.width
        var sum = 0
        pixels.withUnsafeBytes { first in
            copy.withUnsafeBytes { second in
                for y in 0..<pixels.size.height {
                    let left = UnsafeRawBufferPointer(rebasing: first[(y * pixels.bytesPerRow)...].prefix(rowSize))
                    let right = UnsafeRawBufferPointer(rebasing: second[(y * copy.bytesPerRow)...].prefix(rowSize))
                    sum += squaredDistance(from: left, to: right)
                }
            }
        }
        let samples = Double(pixels.size.pixelCount * (pixels.alpha == .opaque ? 3 : 4))
        return sum == 0 ? .infinity : 10 * log10(255 * 255 * samples / Double(sum))
    }

    private static func squaredDistance(from left: UnsafeRawBufferPointer, to right: UnsafeRawBufferPointer) -> Int {
        var sum: UInt32 = 0
        var total = 0
        for index in 0..<left.count {
            let distance = Int32(left[index]) - Int32(right[index])
            sum &+= UInt32(bitPattern: distance &* distance)
            // 2¹⁶ distances of at most 2¹⁶ each fit.
            if index & 0x7fff == 0x7fff { (total, sum) = (total + Int(sum), 0) }
        }
        return total + Int(sum)
    }
}

/// Pixels as they are in memory, as the disk keeps small derived images.
///
/// The file has a head of 16 bytes: the signature with the meaning of the fourth byte of a pixel, the width and the
/// height in little-endian order. The rows follow without padding.
enum RawPixels {
    private static let signature = Array("EIDRAW".utf8)
    private static let headSize = 16
    private static let alphas: [PixelBuffer.Alpha] = [.opaque, .straight, .premultiplied]

    /// Returns whether a file begins with the signature.
    static func matches(_ bytes: [UInt8]) -> Bool { bytes.starts(with: signature) }

    /// Returns a file of pixels.
    static func encode(_ pixels: PixelBuffer) -> [UInt8] {
        let rowSize = 4 * pixels.size.width
        var file = signature + [UInt8(alphas.firstIndex(of: pixels.alpha) ?? 0), 0]
        file.reserveCapacity(headSize + rowSize * pixels.size.height)
        for side in [pixels.size.width, pixels.size.height] {
            withUnsafeBytes(of: UInt32(side).littleEndian) { file.append(contentsOf: $0) }
        }
        pixels.withUnsafeBytes { source in
            for y in 0..<pixels.size.height { file += source[(y * pixels.bytesPerRow)...].prefix(rowSize) }
        }
        return file
    }

    /// Returns the pixels of a file; `nil` if its length or its head is wrong.
    static func decode(_ file: [UInt8]) throws(EideticError) -> PixelBuffer? {
        guard matches(file), file.count > headSize, alphas.indices.contains(Int(file[6])) else { return nil }
        let (width, height) = (side(in: file, at: 8), side(in: file, at: 12))
        let limit = DerivedImageCoding.rawPixelCount
        guard width <= limit, height <= limit, file.count == headSize + 4 * width * height else { return nil }
        let size = PixelSize(width: width, height: height)
        return try PixelBuffer(size: size, alpha: alphas[Int(file[6])]) { target, _ in
            file.withUnsafeBytes { target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[headSize...])) }
        }
    }

    private static func side(in file: [UInt8], at offset: Int) -> Int {
        Int(file.withUnsafeBytes { UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self)) })
    }
}

/// The facts about a derived image that its own bytes do not have, in the extended data of its entry.
///
/// An entry without a record was stored by the application.
struct DerivedImageRecord: Sendable, Hashable {
    /// The encoded image that it was made from; it is out of date as soon as the resource has other bytes.
    let provenance: Image.Provenance
    /// The format and the upright size of that image.
    let format: ImageFormat
    let sourceSize: PixelSize
    /// A Boolean value indicating whether that image has one frame, so that this one stands for all its frames.
    let isStill: Bool
    /// A Boolean value indicating whether the pixels are those that the bytes decode to.
    let isExact: Bool

    private static let marker = "eidetic-derived-1"

    /// Creates the record of an image; `nil` if it was not decoded from bytes.
    init?(_ image: Image, isStill: Bool, isExact: Bool) {
        guard let provenance = image.provenance else { return nil }
        self.provenance = provenance
        format = image.format
        sourceSize = image.sourceSize
        self.isStill = isStill
        self.isExact = isExact
    }

    /// Creates the record in the metadata of an entry; `nil` if there is none.
    init?(_ metadata: DiskCache.Metadata) {
        let text = String(decoding: metadata.extendedData.prefix(256), as: UTF8.self)
        let parts = text.split(separator: " ")
        guard parts.count == 7, parts[0] == Self.marker, let checksum = UInt64(parts[1], radix: 16),
            let byteCount = Int(parts[2]), let width = Int(parts[3]), let height = Int(parts[4]),
            let format = ImageFormat(named: String(parts[5]))
        else { return nil }
        provenance = Image.Provenance(byteCount: ByteCount(byteCount), checksum: checksum)
        self.format = format
        sourceSize = PixelSize(width: width, height: height)
        isStill = parts[6].hasPrefix("still")
        isExact = parts[6].hasSuffix("-exact")
    }

    /// The record as the extended data of an entry.
    var encoded: [UInt8] {
        let parts = [
            Self.marker, String(provenance.checksum, radix: 16), "\(provenance.byteCount.bytes)",
            "\(sourceSize.width)", "\(sourceSize.height)", format.rawValue,
            (isStill ? "still" : "first") + (isExact ? "-exact" : ""),
        ]
        return Array(parts.joined(separator: " ").utf8)
    }

    /// Returns whether the image may stand for one with these options.
    func fits(_ options: ImageOptions, by rules: FreshnessRules) -> Bool {
        (isStill || !options.needsFrames) && (isExact || !rules.isExact)
    }

    /// Returns whether the image was made from the bytes of an entry, which has not expired.
    func describes(_ original: EntryLookup.Original) -> Bool {
        !original.isExpired && original.checksum == provenance.checksum
    }

    /// Returns a decoded derived image with the attributes of the image that was stored.
    func restored(_ image: Image, scale: Double) -> Image {
        Image(frames: image.frames, loopCount: 1, format: format, sourceSize: sourceSize, scale: scale)
            .recording(provenance)
    }
}
