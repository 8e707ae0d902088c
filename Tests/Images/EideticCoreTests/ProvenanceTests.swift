import EideticCore
import Testing

@Suite("Provenance")
struct ProvenanceTests {
    @Test("L12 a decoded image has the checksum of its encoded bytes, and does not hold them")
    func holdsNoBytes() throws {
        var bytes = [UInt8](repeating: 7, count: 4_096)
        let checksum = bytes.withUnsafeBytes { Checksum.value(of: $0) }
        let pixels = try PixelBuffer(size: PixelSize(width: 1, height: 1), alpha: .opaque) { _, _ in }
        let decoded = Image(frames: [Image.Frame(pixels: pixels)], format: .png, sourceSize: pixels.size)
        let image = decoded.recording(Image.Provenance(of: bytes))
        let address = bytes.withUnsafeBytes { $0.baseAddress }
        // It would be a copy if anybody else had the array.
        bytes[0] = 8
        #expect(bytes.withUnsafeBytes { $0.baseAddress } == address)
        #expect(image.encodedChecksum == checksum)
        #expect(image.provenance == Image.Provenance(byteCount: ByteCount(4_096), checksum: checksum))
    }
}
