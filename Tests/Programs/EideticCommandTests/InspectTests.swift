import EideticCodecs
import EideticCore
import EideticTestSupport
import FoundationEssentials
import Testing

@Suite("eidetic inspect", .timeLimit(.minutes(2)))
struct InspectTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory(named: "inspect") }

    @Test(
        "F01 an image's format, size and alpha are reported, whatever its file name",
        arguments: [ImageFormat.jpeg, .png]
    )
    func describes(_ format: ImageFormat) async throws {
        let path = try directory.write(try TestImages.encoded(as: format), to: "image.txt")
        let result = try await EideticProgram.run("inspect", "--json", path)
        #expect(result.status == .exited(0))
        #expect(
            try result.lines(InspectLine.self) == [
                InspectLine(
                    path: path,
                    format: format.rawValue,
                    mime: "image/\(format.rawValue)",
                    width: 64,
                    height: 48,
                    orientation: 1,
                    frames: 1,
                    loop: 1,
                    durations_ms: [],
                    alpha: false,
                    error: nil
                )
            ]
        )
        let text = try await EideticProgram.run("inspect", path)
        #expect(text.outputText.hasPrefix("\(path): \(format == .jpeg ? "JPEG" : "PNG"), 64x48, "))
    }

    @Test("all members are present, in their order, also for a file that is not an image")
    func shape() async throws {
        let path = try directory.write(Array("<html>".utf8), to: "a\u{1}\"\\é.jpg")
        let result = try await EideticProgram.run("inspect", "--json", path)
        #expect(result.status == .exited(1))
        let members = [
            "path", "format", "mime", "width", "height", "orientation", "frames", "loop", "durations_ms", "alpha",
            "alpha_ignored", "bits", "color_space", "chroma", "primaries", "dynamic_range", "gain_map", "profile",
            "exif", "xmp_bytes", "error",
        ]
        #expect(result.outputText.matches(of: /"([a-z_]+)":/).map { String($0.1) } == members)
        let line = try #require(try result.lines(InspectLine.self).first)
        #expect(line.path == path)
        #expect(line.error?.hasPrefix("notAnImage: ") == true)
    }

    @Test("F08 --hash shows the placeholders of an image, which are null for a file that is none")
    func hashes() async throws {
        let path = try directory.write(try TestImages.encoded(as: .png), to: "a.png")
        let bad = try directory.write(Array("<html>".utf8), to: "b.png")
        let placeholder = try ImagePlaceholder(of: try TestImages.gradient(width: 64, height: 48).pixels)
        let json = try await EideticProgram.run("inspect", "--hash", "--json", path, bad)
        #expect(json.outputText.contains("\"blurhash\":\"\(placeholder.blurHash)\""))
        #expect(json.outputText.contains("\"color\":\"\(placeholder.dominantColor)\""))
        #expect(json.outputText.hasSuffix("\"blurhash\":null,\"thumbhash\":null,\"color\":null}\n"))
        let text = try await EideticProgram.run("inspect", "--hash", path)
        #expect(text.outputText.contains("thumbhash \(placeholder.thumbHash), \(placeholder.dominantColor)\n"))
    }

    @Test("invalid files do not stop the others")
    func continuesAfterBadFiles() async throws {
        let good = try directory.write(try TestImages.encoded(as: .png), to: "good.png")
        let cut = try directory.write(Array(try TestImages.encoded(as: .png).prefix(20)), to: "cut.png")
        let result = try await EideticProgram.run("inspect", "--json", "/none", directory.path, cut, good)
        #expect(result.status == .exited(1))
        let lines = try result.lines(InspectLine.self)
        #expect(lines.map(\.format) == [nil, nil, "png", "png"])
        #expect(lines[0].error == "notFound: No such file or directory")
        #expect(lines[1].error == "fileFailure: Is a directory; -r takes the images in it")
        #expect(lines[2].error?.hasPrefix("truncated: ") == true)
        #expect(lines[3].error == nil)
    }

    @Test("L26 --quiet writes errors only", arguments: [false, true])
    func quiet(asJSON: Bool) async throws {
        let good = try directory.write(try TestImages.encoded(as: .png), to: "good.png")
        let options = ["inspect", "--quiet"] + (asJSON ? ["--json"] : [])
        let sound = try await Subprocess.run(EideticProgram.path, arguments: options + [good])
        #expect(sound.status == .exited(0) && sound.output.isEmpty && sound.errorText.isEmpty)
        let mixed = try await Subprocess.run(EideticProgram.path, arguments: options + [good, "/none"])
        #expect(mixed.status == .exited(1))
        #expect((mixed.outputText + mixed.errorText).split(separator: "\n").count == 1)
    }

    private struct Facts: Decodable {
        let bits: Int?
        let color_space: String?
        let primaries: String?
        let dynamic_range: String?
        let profile: String?
        let exif: [String: String]?
        let xmp_bytes: Int?
        let error: String?
    }

    @Test("F01 bits, colours, profile, EXIF and XMP are shown, as text and as JSON")
    func metadata() async throws {
        var options = EncodeOptions()
        // Make: "Ace", and a reference to the directory for photographs with an exposure of 1/125.
        let exif: [UInt8] =
            Array("II".utf8) + [42, 0, 8, 0, 0, 0, 2, 0, 0x0f, 1, 2, 0, 4, 0, 0, 0] + Array("Ace\0".utf8)
            + [0x69, 0x87, 4, 0, 1, 0, 0, 0, 38, 0, 0, 0, 0, 0, 0, 0] + [
                1, 0, 0x9a, 0x82, 5, 0, 1, 0, 0, 0, 56, 0, 0, 0,
            ]
            + [0, 0, 0, 0] + [1, 0, 0, 0, 125, 0, 0, 0]
        options.metadata = ImageMetadata(exif: exif, xmp: Array("<x:xmpmeta/>".utf8))
        let image = try TestImages.gradient(width: 40, height: 30)
        for (format, bits, color) in [(ImageFormat.jpeg, 8, "YCbCr"), (.png, 8, "RGB")] {
            let bytes = try ImageEncoder.encode(image, as: format, options: options)
            let path = try directory.write(bytes, to: "a.\(format.fileExtension)")
            let facts = try #require(try await EideticProgram.run("inspect", "--json", path).lines(Facts.self).first)
            #expect(facts.bits == bits && facts.color_space == color && facts.xmp_bytes == 12 && facts.error == nil)
            #expect(facts.exif == ["make": "Ace", "exposure": "1/125"])
            let text = try await EideticProgram.run("inspect", path).outputText
            let samples = format == .jpeg ? "\(color) 4:2:0" : color
            #expect(text.contains(", \(bits) bits \(samples), EXIF (Ace), XMP, "), "\(text)")
        }
    }

    /// Files of libjxl 0.7, with what they were made from.
    private static let jpegXL: [(base64: String, bits: Int, color: String, primaries: String?, range: String)] = [
        (
            "AAAADEpYTCANCocKAAAAFGZ0eXBqeGwgAAAAAGp4bCAAAAAJanhsbAoAAAAqanhsY/8KQfADVO6tIggIAgEASABLGIsVwmlBTwkBAAAAAAAAAAA=",
            16, "grey", nil, "standard"
        ),
        ("/wpBwIJMbgQICBAAZABLGIsVwkkC5gUkABjyqUTBAAAAAAAAAAAA", 8, "RGB", "Display P3", "standard"),
        (
            "/wpBQEIePQIAEogCANgAXeUSAAAVKqOMG7yc6/nyQ4fFtI3rDG21bWFJosg4NkkncEgSC8HGBfgBAwAwM5ceJgPFqiQB",
            8, "RGB", "BT.2020", "PQ"
        ),
    ]

    @Test("F01 bits, colours and dynamic range of JPEG XL are shown", arguments: jpegXL.indices)
    func samples(index: Int) async throws {
        let (base64, bits, color, primaries, range) = Self.jpegXL[index]
        let path = try directory.write(Array(try #require(Data(base64Encoded: base64))), to: "a.jxl")
        let facts = try #require(try await EideticProgram.run("inspect", "--json", path).lines(Facts.self).first)
        guard facts.error?.hasPrefix("unsupportedFormat") != true else { try Test.cancel("libjxl is missing") }
        #expect(facts.error == nil && facts.bits == bits && facts.color_space == color)
        #expect(facts.primaries == primaries && facts.dynamic_range == range)
    }

    @Test("F01 bits, colours and the end of TIFF and BMP are shown", arguments: [false, true])
    func oldFormats(isCut: Bool) async throws {
        let values = [(256, 2), (257, 2), (258, 16), (259, 1), (262, 1), (273, 122), (277, 1), (278, 2), (279, 8)]
        var entries: [UInt8] = []
        for (tag, value) in values {
            entries += [UInt8(tag & 255), UInt8(tag >> 8), 3, 0, 1, 0, 0, 0, UInt8(value), 0, 0, 0]
        }
        let tiff = Array("II*\0".utf8) + [8, 0, 0, 0, 9, 0] + entries + [0, 0, 0, 0] + [1, 2, 3, 4, 5, 6, 7, 8]
        let header: [UInt8] = [40, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1, 0, 24, 0] + Array(repeating: 0, count: 24)
        let bmp = Array("BM".utf8) + [62, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0] + header + [1, 2, 3, 4, 5, 6, 0, 0]
        for (name, bytes, bits, color) in [("a.tif", tiff, 16, "grey"), ("a.bmp", bmp, 8, "RGB")] {
            let path = try directory.write(Array(bytes.dropLast(isCut ? 5 : 0)), to: name)
            let facts = try #require(try await EideticProgram.run("inspect", "--json", path).lines(Facts.self).first)
            #expect(facts.bits == bits && facts.color_space == color, "\(name)")
            #expect((facts.error?.hasPrefix("truncated: ") == true) == isCut, "\(facts.error ?? "")")
        }
    }

    @Test("F01 a file that was cut anywhere behind its header is reported, and a whole one is not")
    func truncation() async throws {
        var files: [(ImageFormat, [UInt8])] = [(.gif, try TestImages.animation(frameCount: 3))]
        for format in ImageEncoder.supportedFormats where format != .gif {
            files.append((format, try TestImages.encoded(as: format, width: 200, height: 150)))
        }
        let icon: [UInt8] = [0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 32, 0]
        let png = try TestImages.encoded(as: .png, width: 200, height: 150)
        files.append((.ico, icon + [UInt8(png.count & 255), UInt8(png.count >> 8), 0, 0, 22, 0, 0, 0] + png))
        for (format, bytes) in files {
            let whole = try directory.write(bytes, to: "whole.\(format.fileExtension)")
            #expect(try await EideticProgram.run("inspect", "--check", whole).status == .exited(0), "\(format)")
            for part in [2, 3, 10] where ![.jpegxl, .bmp].contains(format) {
                let cut = try directory.write(Array(bytes.prefix(bytes.count - bytes.count / part)), to: "cut")
                let result = try await EideticProgram.run("inspect", "--json", cut)
                let error = try #require(try result.lines(Facts.self).first).error
                #expect(
                    result.status == .exited(1) && error?.hasPrefix("truncated: ") == true,
                    "\(format) \(error ?? "")"
                )
            }
        }
        // What devices append to a file is no part of it.
        for (format, bytes) in files where [.avif, .heic].contains(format) {
            for appended in [Array("SEFT".utf8) + [UInt8](repeating: 0, count: 40), Array("LIVE_123".utf8)] {
                let path = try directory.write(bytes + appended, to: "appended")
                #expect(try await EideticProgram.run("inspect", "--check", path).status == .exited(0), "\(format)")
            }
        }
        // The pixels are damaged, and the end is there.
        var damaged = try TestImages.encoded(as: .png, width: 200, height: 150)
        for index in 200..<220 { damaged[index] ^= 0xff }
        let path = try directory.write(damaged, to: "damaged.png")
        #expect(try await EideticProgram.run("inspect", path).status == .exited(0))
        #expect(try await EideticProgram.run("inspect", "--check", path).status == .exited(1))
    }

    @Test("- is standard input")
    func standardInput() async throws {
        let result = try await EideticProgram.run("inspect", "-", input: try TestImages.encoded(as: .jpeg))
        #expect(result.status == .exited(0))
        #expect(result.outputText.hasPrefix("-: JPEG, 64x48, "))
    }

    @Test("the error of a directory as standard input names no option that would not help")
    func directoryAsInput() async throws {
        let words = ["-c", "exec \"$0\" inspect - < \"$1\"", EideticProgram.path, directory.path]
        let result = try await Subprocess.run("sh", arguments: words)
        #expect(result.status == .exited(1))
        #expect(result.errorText == "eidetic: -: Is a directory\n")
    }

    @Test("control characters in a name are not written to the terminal")
    func terminalSafety() async throws {
        let path = try directory.write(try TestImages.encoded(as: .png), to: "a\u{1b}[31mb.png")
        let result = try await EideticProgram.run("inspect", path, "/\u{1b}]0;x\u{7}")
        #expect(!result.outputText.contains("\u{1b}"))
        #expect(!result.errorText.contains("\u{1b}"))
        #expect(result.outputText.contains("a?[31mb.png"))
    }

    @Test("F01 F07 no file of the corpus stops it", .needsCorpus)
    func corpus() async throws {
        let files = try Corpus.files(withExtensions: ["jpg", "jpeg", "png", "gif", "webp"]).map {
            "\(Corpus.directory ?? "")/\($0)"
        }
        try #require(files.count > 100)
        let result = try await Subprocess.run(EideticProgram.path, arguments: ["inspect", "--json"] + files)
        guard case .exited = result.status else {
            Issue.record("\(result.status)")
            return
        }
        #expect(try result.lines(InspectLine.self).map(\.path) == files)
    }
}
