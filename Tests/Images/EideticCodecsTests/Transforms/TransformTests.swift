import EideticCodecs
import EideticCore
import Testing

@Suite("Transforms")
struct TransformTests {
    private func photo(alpha: PixelBuffer.Alpha = .opaque) throws -> PixelBuffer {
        try TestImages.photo(width: 61, height: 43, alpha: alpha)
    }

    private static let all: [any ImageTransform] = [
        .resize(PixelSize(width: 20, height: 20), contentMode: .fillCropped()),
        .resize(PixelSize(width: 90, height: 90), upscales: true),
        .crop(PixelRect(x: 3, y: 4, width: 17, height: 9)),
        .roundedCorners(radius: 7.5, topRight: false, bottomLeft: false),
        .roundedCorners(radius: 9, borderWidth: 2.5, borderColor: .white), .circle(),
        .circle(borderWidth: 3),
        .border(width: 1.5, color: ImageColor(red: 9, green: 8, blue: 7, alpha: 100)), .rotation(degrees: 17),
        .rotation(degrees: -90), .rotation(degrees: 90, expandsCanvas: false), .flip(),
        .flip(horizontal: false, vertical: true),
        .tint(ImageColor(red: 255, green: 0, blue: 0, alpha: 77)), .grayscale, .gaussianBlur(radius: 2.2),
        .sharpening(),
        TransformChain([.grayscale, .circle()]),
    ]

    @Test("F06 every transform and every argument has its own key, and equal ones have equal keys")
    func keys() {
        let more: [any ImageTransform] = [
            .rotation(degrees: 17.000000000000004), .gaussianBlur(radius: 2.3), .sharpening(amount: 0.5),
            .tint(ImageColor(red: 255, green: 0, blue: 0, alpha: 78)), .border(width: 1.5, color: .black),
            .flip(horizontal: true, vertical: true), .roundedCorners(radius: 7.5),
            .rotation(degrees: 17, expandsCanvas: false),
            .resize(PixelSize(width: 20, height: 20)), .resize(PixelSize(width: 20, height: 20), contentMode: .stretch),
            .resize(PixelSize(width: 20, height: 20), contentMode: .fillCropped(focus: .point(x: 0, y: 0))),
            TransformChain([.circle(), .grayscale]), .rotation(degrees: 17, background: .white),
        ]
        #expect(Set((Self.all + more).map(\.key)).count == Self.all.count + more.count)
        #expect(ImageTransforms.GaussianBlur().key == ImageTransforms.GaussianBlur(radius: 8).key)
    }

    @Test("F06 the results have the same bits on every run and machine")
    func checksums() throws {
        let sums = try [PixelBuffer.Alpha.opaque, .straight].flatMap { alpha in
            let pixels = try photo(alpha: alpha)
            return try Self.all.map { transform in
                let result = try transform.apply(to: pixels)
                return String(Checksum.value(of: result.unsafeBytes), radix: 16)
            }
        }
        #expect(sums == Self.recorded)
    }

    @Test("F06 premultiplied colours never exceed alpha", arguments: all.map(\.key))
    func premultiplied(key: String) throws {
        let transform = try #require(Self.all.first { $0.key == key }),
            result = try transform.apply(to: photo(alpha: .straight))
        guard result.alpha == .premultiplied else { return }
        for y in 0..<result.size.height {
            for x in 0..<result.size.width {
                let pixel = result[x, y]
                #expect(max(pixel.x, pixel.y, pixel.z) <= pixel.w, "\(x), \(y): \(pixel)")
            }
        }
    }

    @Test("F06 a circle is transparent outside, and unchanged inside")
    func circle() throws {
        let pixels = try TestImages.solid(width: 60, height: 40, colour: [9, 8, 7, 255])
        let result = try ImageTransforms.Circle().apply(to: pixels)
        #expect(result.size == PixelSize(width: 40, height: 40))
        for y in 0..<40 {
            for x in 0..<40 {
                let (across, down) = (Double(x) - 19.5, Double(y) - 19.5),
                    distance = (across * across + down * down).squareRoot()
                if distance > 20.6 { #expect(result[x, y] == .zero) }
                if distance < 19.4 { #expect(result[x, y] == SIMD4(9, 8, 7, 255)) }
                #expect(result[x, y] == result[39 - x, y] && result[x, y] == result[x, 39 - y])
            }
        }
    }

    @Test("F06 a border lies inside the edge, also along round corners, and its alpha blends it")
    func border() throws {
        let pixels = try TestImages.solid(width: 40, height: 30, colour: [100, 100, 100, 255])
        let red = ImageColor(red: 255, green: 0, blue: 0), half = ImageColor(red: 255, green: 0, blue: 0, alpha: 51)
        let plain = try ImageTransforms.Border(width: 2, color: red).apply(to: pixels)
        #expect(plain.alpha == .opaque && plain.size == pixels.size)
        #expect(plain[1, 15] == SIMD4(255, 0, 0, 255) && plain[38, 1] == SIMD4(255, 0, 0, 255))
        #expect(plain[2, 2] == SIMD4(100, 100, 100, 255) && plain[37, 27] == SIMD4(100, 100, 100, 255))
        #expect(try ImageTransforms.Border(width: 2, color: half).apply(to: pixels)[0, 0] == SIMD4(131, 80, 80, 255))
        let round = try ImageTransforms.RoundedCorners(radius: 10, border: .init(width: 3, color: red)).apply(
            to: pixels
        )
        #expect(round[0, 0] == .zero)
        #expect(round[4, 4] == SIMD4(255, 0, 0, 255))
        #expect(round[8, 8] == SIMD4(100, 100, 100, 255))
    }

    @Test("F06 an opaque tint recolours an icon, and leaves transparent parts transparent")
    func tint() throws {
        let icon = try TestImages.makePixels(width: 2, height: 1, alpha: .straight) { x, _ in
            x == 0 ? [1, 2, 3, 0] : [5, 6, 7, 128]
        }
        let result = try ImageTransforms.Tint(ImageColor(red: 255, green: 0, blue: 0)).apply(to: icon)
        #expect(result[0, 0] == .zero)
        #expect(result[1, 0] == SIMD4(128, 0, 0, 128))
    }

    @Test("F06 invalid arguments are errors")
    func invalid() throws {
        let pixels = try photo()
        let invalid: [any ImageTransform] = [
            .crop(PixelRect(x: 61, y: 0, width: 5, height: 5)), .crop(PixelRect(x: 0, y: 0, width: 0, height: 5)),
            .crop(PixelRect(x: -5, y: 0, width: 5, height: 5)), .gaussianBlur(radius: -1), .gaussianBlur(radius: .nan),
            .sharpening(amount: 16.5), .rotation(degrees: .infinity), .roundedCorners(radius: -1), .border(width: .nan),
            .resize(PixelSize(width: 0, height: 4)),
        ]
        for transform in invalid {
            #expect(
                errorCode { () throws(EideticError) in _ = try transform.apply(to: pixels) } == .invalidArgument,
                "\(transform.key)"
            )
        }
        let huge = ImageTransforms.Resize(PixelSize(width: 60_000, height: 60_000), upscales: true)
        #expect(errorCode { () throws(EideticError) in _ = try huge.apply(to: pixels) } == .limitExceeded)
        let line = try TestImages.solid(width: 60_000, height: 1, colour: [1, 2, 3, 255])
        let turn = ImageTransforms.Rotation(degrees: 45)
        #expect(errorCode { () throws(EideticError) in _ = try turn.apply(to: line) } == .limitExceeded)
    }

    @Test("F06 points that crop alike have one key")
    func focusKeys() {
        func key(_ x: Double, _ y: Double) -> String {
            ImageTransforms.Resize(PixelSize(width: 9, height: 9), contentMode: .fillCropped(focus: .point(x: x, y: y)))
                .key
        }
        #expect(key(-3, 0.5) == key(0, 0.5) && key(7, 2) == key(1, 1) && key(0, 0.5) != key(0.5, 0.5))
        #expect(key(.nan, 0.5) == key(0.5, 0.5))
    }

    @Test("F06 extreme arguments give an image", arguments: [1, 2, 5])
    func extremes(side: Int) throws {
        let pixels = try TestImages.photo(width: side, height: 7)
        let extreme: [any ImageTransform] = [
            .crop(PixelRect(x: -9, y: 0, width: .max, height: .max)), .gaussianBlur(radius: 1e300),
            .gaussianBlur(radius: 1e-9),
            .roundedCorners(radius: 1e300), .border(width: 1e300), .sharpening(amount: 16, radius: 100),
            .rotation(degrees: 1e300),
            .circle(borderWidth: 1e300), .resize(PixelSize(width: 1, height: 1)),
        ]
        for transform in extreme { #expect(try transform.apply(to: pixels).size.isPositive, "\(transform.key)") }
        #expect(
            try ImageTransforms.Crop(PixelRect(x: -9, y: 0, width: .max, height: .max)).apply(to: pixels).size
                == pixels.size
        )
    }

    @Test(
        "F06 a colour has a text, and is parsed from it",
        arguments: [
            ("#ff8000", "#ff8000"), ("abc", "#aabbcc"), ("#01020304", "#01020304"), ("#FFFFFFFF", "#ffffff"),
        ]
    )
    func colours(text: String, expected: String) {
        #expect(ImageColor(hex: text)?.description == expected)
        for wrong in ["", "#", "#ff80", "#gg0000", "+f0000", "#ff80000"] { #expect(ImageColor(hex: wrong) == nil) }
    }
}
