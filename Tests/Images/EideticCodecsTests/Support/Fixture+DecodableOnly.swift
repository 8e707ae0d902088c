import EideticCodecs
import EideticCore
import FoundationEssentials

extension Fixture {
    /// A small file of each format that this build decodes.
    static let everyFormat: [Fixture] =
        standard + decodableOnly.filter { ImageDecoder.supportedFormats.contains($0.format) }

    /// Files of formats without an encoder, made by hand or with libheif and libjxl.
    private static var decodableOnly: [Fixture] {
        let row = (0..<37).map { UInt8(7 * $0) }
        let greys = Array(repeating: row, count: 23).flatMap { $0 }
        let colours: [[UInt8]] = (0..<23).map { _ in row.flatMap { [$0, 200, 90] } + [0] }
        let large = makeBMP(width: 37, height: 23, bitsPerPixel: 24, pixels: Array(colours.joined()))
        // Blue, green, red and alpha of 64 pixels, and a 1-bit mask in rows of four bytes.
        let small = makeBMP(
            width: 8,
            height: 8,
            bitsPerPixel: 32,
            pixels: Array(repeating: 200, count: 288),
            isIcon: true
        )
        let tiff = TIFFWriter(width: 37, height: 23, bits: 8, photometric: 1, compression: 1, strip: greys)
        return [
            Fixture(name: "bmp", format: .bmp, bytes: large),
            Fixture(name: "ico", format: .ico, bytes: makeICO(images: [(8, small)])),
            Fixture(name: "tiff", format: .tiff, bytes: tiff.finished),
            Fixture(name: "avif", format: .avif, bytes: bytes(base64: avif)),
            Fixture(name: "heic", format: .heic, bytes: bytes(base64: heic)),
            Fixture(name: "jpeg xl", format: .jpegxl, bytes: bytes(base64: jpegXL)),
            Fixture(name: "svg", format: .svg, bytes: Array(svg.utf8)),
        ]
    }

    private static func bytes(base64 text: String) -> [UInt8] {
        Array(Data(base64Encoded: text, options: .ignoreUnknownCharacters) ?? Data())
    }

    private static let svg =
        "<svg xmlns='http://www.w3.org/2000/svg' width='37' height='23'><circle cx='15' cy='9' r='8'/></svg>"

    /// 37 x 23.
    private static let avif = """
        AAAAHGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZgAAAOptZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAAAA5waXRt
        AAAAAAABAAAAImlsb2MAAAAAREAAAQABAAAAAAEOAAEAAAAAAAAAKgAAACNpaW5mAAAAAAABAAAAFWluZmUCAAAAAAEAAGF2MDEAAAAAamlw
        cnAAAABLaXBjbwAAABNjb2xybmNseAACAAIABoAAAAAMYXYxQ4EADAAAAAAUaXNwZQAAAAAAAAAlAAAAFwAAABBwaXhpAAAAAAMICAgAAAAX
        aXBtYQAAAAAAAAABAAEEgYIDhAAAADJtZGF0EgAKBhgVJLMCEDIeGYAQQQQEAMWm74fCYqb4SlLA1T91td0OMcqfHVeA
        """

    /// 38 x 24.
    private static let heic = """
        AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAaptZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAAAA5waXRt
        AAAAAAACAAAAEGlkYXQAAAAAACYAGAAAADhpbG9jAQAAAERAAAIAAQAAAAAAAAHOAAEAAAAAAAAAPAACAAEAAAAAAAAAAQAAAAAAAAAIAAAA
        OGlpbmYAAAAAAAIAAAAVaW5mZQIAAAEAAQAAaHZjMQAAAAAVaW5mZQIAAAAAAgAAZ3JpZAAAAADVaXBycAAAALNpcGNvAAAAc2h2Y0MBA3AA
        AAAAAAAAAAAe8AD8/fj4AAAPAyAAAQAYQAEMAf//A3AAAAMAkAAAAwAAAwAeugJAIQABACdCAQEDcAAAAwCQAAADAAADAB6gIIEFluqumubA
        gAAAAwCAAAADAIQiAAEABkQBwXPBiQAAABRpc3BlAAAAAAAAAEAAAABAAAAAFGlzcGUAAAAAAAAAJgAAABgAAAAQcGl4aQAAAAADCAgIAAAA
        GmlwbWEAAAAAAAAAAgABAoECAAICA4QAAAAaaXJlZgAAAAAAAAAOZGltZwACAAEAAQAAAERtZGF0AAAAOCgBr1IWbzznAToFic4ks7sFrTv9
        8WjRuGtDoNn7U4vOko6P4kcYxKa5loDjS+T9e7rUHYokDQeA
        """

    /// 37 x 23.
    private static let jpegXL = """
        /wqwAEgMAQQCi00JAIAKlVHGDV7O9Xz5ocNi2sZ1hrbatgAAAAAewL8SxmZ7YZAwg1D5GOW2uLhti1vmcbM6El0QX36swviKFTMMjYQigZfz
        eQcUiiKoSr7tSMyouGi2f87KUBsEAKCSRBJ6/ob3fm1MMJ3fXV8m2gBaM8Z+3rRWZO6orBvFnGYC
        """
}
