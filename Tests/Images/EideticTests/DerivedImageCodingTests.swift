@testable import Eidetic
import EideticCodecs
import EideticCore
import Testing

@Suite("Coding of derived images")
struct DerivedImageCodingTests {
    private func image(width: Int, height: Int, alpha: PixelBuffer.Alpha, noise: Int) throws -> Image {
        var generator = SystemRandomNumberGenerator()
        let size = PixelSize(width: width, height: height)
        let pixels = try PixelBuffer(size: size, alpha: alpha) { target, stride in
            for y in 0..<height {
                for x in 0..<width {
                    let values = [(x + y) / 4, x / 2, y / 2].map { value in
                        UInt8(clamping: value % 200 + (noise == 0 ? 0 : Int.random(in: 0...noise, using: &generator)))
                    }
                    let opacity: UInt8 = alpha == .opaque ? 255 : UInt8(x % 256)
                    for (offset, value) in (values + [opacity]).enumerated() {
                        let isPremultiplied = offset < 3 && alpha != .opaque
                        target[y * stride + 4 * x + offset] = isPremultiplied ? min(value, opacity) : value
                    }
                }
            }
        }
        return Image(frames: [.init(pixels: pixels)], format: .jpeg, sourceSize: size)
    }

    @Test("C23 opaque images lose less than 42 dB, others and exact ones nothing", arguments: [0, 20, 255])
    func quality(noise: Int) throws {
        let cases: [(PixelBuffer.Alpha, Bool)] = [(.opaque, false), (.opaque, true), (.premultiplied, false)]
        for (alpha, isExact) in cases {
            let image = try image(width: 200, height: 150, alpha: alpha, noise: noise)
            let encoded = try DerivedImageCoding.encode(image, isExact: isExact, limits: .standard)
            let copy = try DerivedImageCoding.decode(encoded.bytes, limits: .standard)
            let likeness = DerivedImageCoding.likeness(of: copy.pixels, to: image.pixels)
            #expect(alpha == .opaque && !isExact ? likeness >= 42 : likeness == .infinity)
            if noise == 0, alpha == .opaque, !isExact { #expect(encoded.bytes.count < 20_000) }
        }
    }

    @Test("C23 images of at most 4,096 pixels are kept as pixels", arguments: [(64, 63), (64, 64), (64, 65)])
    func small(width: Int, height: Int) throws {
        let image = try image(width: width, height: height, alpha: .premultiplied, noise: 255)
        let encoded = try DerivedImageCoding.encode(image, isExact: false, limits: .standard)
        #expect(RawPixels.matches(encoded.bytes) == (height <= 64))
        let copy = try DerivedImageCoding.decode(encoded.bytes, limits: .standard)
        #expect(DerivedImageCoding.likeness(of: copy.pixels, to: image.pixels) == .infinity)
    }

    @Test("C23 pixels whose file is one byte too short or too long are corrupt")
    func rawLength() throws {
        let file = RawPixels.encode(try image(width: 3, height: 2, alpha: .opaque, noise: 0).pixels)
        #expect(file.count == 16 + 24)
        for bytes in [Array(file.dropLast()), file + [0], Array(file.prefix(16)), Array(file.prefix(7))] {
            #expect { try DerivedImageCoding.decode(bytes, limits: .standard) } throws: {
                ($0 as? EideticError)?.code == .corrupt
            }
        }
    }

    @Test("C23 the likeness of images is that of their squared distances")
    func likeness() throws {
        let black = try PixelBuffer(size: PixelSize(width: 300, height: 300), alpha: .opaque) { target, _ in
            for index in target.indices { target[index] = index % 4 == 3 ? 255 : 0 }
        }
        let white = try PixelBuffer(size: PixelSize(width: 300, height: 300), alpha: .opaque) { target, _ in
            for index in target.indices { target[index] = 255 }
        }
        #expect(abs(DerivedImageCoding.likeness(of: white, to: black)) < 1e-9)
        #expect(DerivedImageCoding.likeness(of: white, to: white) == .infinity)
    }
}
