import EideticCodecs
import EideticCore
import EideticTestSupport
import Glibc
import Testing

@Suite("eidetic convert", .timeLimit(.minutes(1)))
struct ConvertTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory(named: "convert") }

    @Test("F05 the output's extension determines its format, --size fits the image into that size")
    func converts() async throws {
        let source = try directory.write(try TestImages.encoded(as: .png), to: "in")
        let target = directory.path(of: "out.jpg")
        let result = try await EideticProgram.run("convert", "--size", "32x32", source, target)
        #expect(result.status == .exited(0))
        #expect(result.errorText == "")
        let image = try ImageDecoder.decode(try directory.contents(of: "out.jpg"))
        #expect(image.format == .jpeg)
        #expect(image.size == PixelSize(width: 32, height: 24))
        #expect(try FileSystem().entryNames(in: directory.path).sorted() == ["in", "out.jpg"])
    }

    @Test("an empty list is no error, and a list that cannot be read is one")
    func lists() async throws {
        let words = ["convert", "--format", "png", "--out", directory.path(of: "out")]
        let empty = try await Subprocess.run(EideticProgram.path, arguments: words + ["@-"])
        #expect(empty.status == .exited(0) && empty.outputText.hasPrefix("0 of 0 images converted"))
        let missing = try await Subprocess.run(EideticProgram.path, arguments: words + ["@/nobody/list"])
        #expect(missing.status == .exited(1) && missing.errorText.contains("/nobody/list"))
    }

    @Test("with --json the line of a file is written when the file is: the next one may take long")
    func writesLines() async throws {
        try directory.write(try TestImages.encoded(as: .jpeg), to: "a.jpg")
        // The second image is standard input, whose end comes after the first line.
        let script = """
            mkfifo in out && cd . && { "$0" convert --json --jobs 1 --format png --out d a.jpg - <in >out & exec 3>in 4<out; }
            read -t 30 -r line <&4; echo "first $line"; exec 3>&-; cat <&4; wait $!; echo "status $?"
            """
        let result = try await Subprocess.run(
            "bash",
            arguments: ["-c", script, EideticProgram.path],
            directory: directory.path
        )
        let lines = result.outputText.split(separator: "\n")
        #expect(lines.first?.hasPrefix(#"first {"input":"a.jpg""#) == true, "\(result.outputText)")
        #expect(lines.last == "status 1")
    }

    @Test("a pipe that is closed ends a batch: what has not started is not converted")
    func closedPipe() async throws {
        let jpeg = try TestImages.encoded(as: .jpeg)
        for number in 0..<60 { try directory.write(jpeg, to: "\(number).jpg") }
        // The program starts after the other end of the pipe is closed.
        let program = "{ read _ <closed; \"$0\" convert --json --jobs 1 --format png --out d *.jpg; echo $? >status; }"
        let script = "mkfifo closed && \(program) | { exec <&-; echo >closed; }"
        let arguments = ["-c", script, EideticProgram.path]
        _ = try await Subprocess.run("sh", arguments: arguments, directory: directory.path)
        #expect(try FileSystem().entryNames(in: directory.path(of: "d")).count == 1)
        #expect(try directory.contents(of: "status") == Array("1\n".utf8))
    }

    @Test("F05 converting PNG to PNG keeps the pixels")
    func isExact() async throws {
        let source = try TestImages.encoded(as: .png)
        let result = try await EideticProgram.run("convert", "-", "-", input: source)
        #expect(result.status == .exited(0))
        let (before, after) = (try ImageDecoder.decode(source), try ImageDecoder.decode(result.output))
        #expect(after.format == .png)
        #expect(before.pixels.withUnsafeBytes { Array($0) } == after.pixels.withUnsafeBytes { Array($0) })
    }

    @Test(
        "F05 where libheif has no encoder of HEVC, converting to HEIC names the package that has it",
        .enabled(if: hasEncoderPlugin, "libheif of Debian 12 contains the encoder")
    )
    func missingEncoder() async throws {
        let source = try directory.write(try TestImages.encoded(as: .png), to: "in")
        let target = directory.path(of: "out.heic")
        let environment = ["LIBHEIF_PLUGIN_PATH": directory.path]
        let result = try await EideticProgram.run("convert", source, target, environment: environment)
        #expect(result.status == .exited(1))
        #expect(result.errorText.contains("libheif has no encoder of HEVC; install libheif-plugin-x265"))
        #expect(try FileSystem().entryNames(in: directory.path) == ["in"])
        #expect(try await EideticProgram.run("convert", source, target).status == .exited(0))
    }

    /// A Boolean value indicating whether the encoder is a file of its own, which libheif loads.
    private static var hasEncoderPlugin: Bool {
        access("/usr/lib/x86_64-linux-gnu/libheif/plugins/libheif-x265.so", R_OK) == 0
    }

    @Test("F05 an animation keeps its frames, durations and loop count, to AVIF and back as well")
    func animations() async throws {
        let source = try directory.write(try TestImages.animation(frameCount: 3), to: "in.gif")
        for name in ["out.gif", "out.webp", "out.png"] {
            let target = directory.path(of: name)
            #expect(try await EideticProgram.run("convert", "--size", "32x32", source, target).status == .exited(0))
            let header = try #require(try ImageDecoder.header(of: try directory.contents(of: name)))
            #expect(header.frameCount == 3 && header.durations == Array(repeating: .milliseconds(100), count: 3))
        }
        guard ImageEncoder.supportedFormats.contains(.avif) else { return }
        let (avif, back) = (directory.path(of: "out.avif"), directory.path(of: "back.gif"))
        #expect(try await EideticProgram.run("convert", "--loop", "3", source, avif).status == .exited(0))
        #expect(try await EideticProgram.run("convert", avif, back).status == .exited(0))
        let header = try #require(try ImageDecoder.header(of: try directory.contents(of: "back.gif")))
        #expect(header.loopCount == 3 && header.durations == Array(repeating: .milliseconds(100), count: 3))
    }

    @Test("F05 an animation is not written as JPEG, but each of its frames is")
    func oneFrame() async throws {
        let source = try directory.write(try TestImages.animation(frameCount: 3), to: "in.gif")
        let jpeg = directory.path(of: "out.jpg")
        let refused = try await EideticProgram.run("convert", source, jpeg)
        #expect(refused.status == .exited(1))
        #expect(refused.errorText.contains("an animation cannot be written as JPEG; use PNG, WebP, GIF"))
        #expect((try? directory.contents(of: "out.jpg")) == nil)
        #expect(try await EideticProgram.run("convert", "--frame", "3", source, jpeg).status == .exited(0))
        #expect(abs(Int(try ImageDecoder.decode(try directory.contents(of: "out.jpg")).pixels[9, 9].x) - 80) < 6)
        let missing = try await EideticProgram.run("convert", "--frame", "4", source, jpeg)
        #expect(
            missing.status == .exited(1) && missing.errorText.contains("there is no frame 4; the image has 3 frames")
        )
    }

    // PNG (third edition), 4.9: the default image is no frame then; Chromium 156 never shows it.
    @Test("F05 --frame 1 is the first frame of an APNG, not the image beside its frames", arguments: [1, 2])
    func frameBesideImage(number: Int) async throws {
        let source = try directory.write(TestImages.animationBesideImage, to: "in.png")
        let target = directory.path(of: "out.png")
        #expect(try await EideticProgram.run("convert", "--frame", "\(number)", source, target).status == .exited(0))
        let pixel = try ImageDecoder.decode(try directory.contents(of: "out.png")).pixels[0, 0]
        #expect(pixel.x == UInt8(10 * number))
    }

    @Test("F05 --frames writes each frame, and --animate joins images to an animation")
    func frames() async throws {
        let source = try directory.write(try TestImages.animation(frameCount: 3), to: "in.gif")
        let target = directory.path(of: "f.png")
        #expect(try await EideticProgram.run("convert", "--frames", source, target).status == .exited(0))
        let parts = (1...3).map { directory.path(of: "f-\($0).png") }
        let words = ["convert", "--animate", "40", "--loop", "2"] + parts + [directory.path(of: "joined.webp")]
        let joined = try await Subprocess.run(EideticProgram.path, arguments: words)
        #expect(joined.status == .exited(0), "\(joined.errorText)")
        let header = try #require(try ImageDecoder.header(of: try directory.contents(of: "joined.webp")))
        #expect(header.durations == Array(repeating: .milliseconds(40), count: 3) && header.loopCount == 2)
        let other = try directory.write(try TestImages.encoded(as: .png, width: 9, height: 9), to: "small.png")
        let refused = try await Subprocess.run(
            EideticProgram.path,
            arguments: ["convert", "--animate", "40", parts[0], other, directory.path(of: "no.webp")]
        )
        #expect(
            refused.status == .exited(1) && refused.errorText.contains("image 2 has 9x9 pixels, the first one 64x48")
        )
        let list = "@" + directory.path(of: "missing")
        let unread = try await EideticProgram.run("convert", "--animate", "40", list, directory.path(of: "no.webp"))
        #expect(unread.status == .exited(1) && unread.errorText.contains("missing"))
    }

    @Test("F05 --max-bytes and --max-size limit the file, --progressive and --background form a JPEG")
    func limits() async throws {
        let source = try TestImages.encoded(as: .png, width: 400, height: 300)
        func convert(_ options: String...) async throws -> [UInt8] {
            let words = ["convert", "--format=jpeg"] + options + ["-", "-"]
            let result = try await Subprocess.run(EideticProgram.path, arguments: words, input: source)
            try #require(result.status == .exited(0), "\(result.errorText)")
            return result.output
        }
        let full = try await convert()
        let small = try await convert("--max-bytes", "\(full.count / 2)")
        #expect(small.count <= full.count / 2 && Double(small.count) > 0.9 * Double(full.count / 2))
        let size = try ImageDecoder.header(of: try await convert("--max-size", "100x100"))?.size
        #expect(size == PixelSize(width: 100, height: 75))
        let progressive = try await convert("--progressive")
        #expect(zip(progressive, progressive.dropFirst()).contains { $0 == (0xff, 0xc2) })
        let round = try await convert("--round", "40", "--background", "#ff0000")
        let corner = try ImageDecoder.decode(round).pixels[0, 0]
        #expect(corner.x > 200 && corner.y < 60)
    }

    @Test("F05 --metadata keep keeps EXIF and the colours of a profile; without it nothing is kept")
    func metadata() async throws {
        var options = EncodeOptions()
        let exif: [UInt8] =
            Array("II".utf8) + [42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]
        options.metadata = ImageMetadata(exif: exif, xmp: Array("<x:xmpmeta/>".utf8))
        let input = try ImageEncoder.encode(try TestImages.gradient(width: 40, height: 30), as: .jpeg, options: options)
        for (format, expected) in [("webp", options.metadata), ("png", options.metadata), ("gif", ImageMetadata())] {
            let kept = try await EideticProgram.run(
                "convert",
                "--metadata=keep",
                "--format",
                format,
                "-",
                "-",
                input: input
            )
            #expect(try ImageMetadata(of: kept.output) == expected, "\(format): \(kept.errorText)")
            let plain = try await EideticProgram.run("convert", "--format", format, "-", "-", input: input)
            #expect(try ImageMetadata(of: plain.output) == ImageMetadata())
        }
    }

    @Test("F05 --out converts many files, and one that fails does not stop the others")
    func many() async throws {
        var words = ["convert", "--out", directory.path(of: "out"), "--format", "webp", "--size", "20x20"]
        for index in 0..<9 { words.append(try directory.write(try TestImages.encoded(as: .png), to: "a#\(index).png")) }
        words.append(try directory.write(Array("text".utf8), to: "bad.png"))
        words.append(try directory.write(try TestImages.encoded(as: .jpeg), to: "a#1.jpg"))
        let result = try await Subprocess.run(EideticProgram.path, arguments: words)
        #expect(result.status == .exited(1) && result.outputText.hasPrefix("10 of 11 images converted; "))
        #expect(result.errorText.contains("bad.png: "))
        let names = try FileSystem().entryNames(in: directory.path(of: "out")).sorted()
        #expect(names == ((0..<9).map { "a#\($0).webp" } + ["a#1-2.webp"]).sorted())
        for name in names {
            #expect(try ImageDecoder.header(of: directory.contents(of: "out/\(name)"))?.size.width == 20)
        }
    }

    @Test(
        "F05 options and files that do not fit together are refused",
        arguments: [
            ["a.png"], ["a.png", "b.png", "c.png"], ["--frame", "1", "--frames", "a.gif", "b.png"],
            ["--frames", "a.gif", "-"],
            ["--frame", "0", "a", "b.png"], ["--animate", "5", "a.png"], ["--animate", "0", "a", "b.gif"],
            ["--animate", "5", "--out", "d", "a.png"], ["--max-bytes", "0", "a", "b.png"],
            ["--metadata", "no", "a", "b.png"],
        ]
    )
    func refused(_ options: [String]) async throws {
        let result = try await Subprocess.run(EideticProgram.path, arguments: ["convert"] + options)
        #expect(result.status == .exited(2) && !result.errorText.isEmpty)
    }

    @Test("F05 --colors writes a palette of at most so many colours, and is refused for a format without one")
    func colours() async throws {
        let source = try TestImages.encoded(as: .jpeg, width: 200, height: 150)
        let png = try await EideticProgram.run("convert", "--format=png", "--colors", "16", "-", "-", input: source)
        #expect(png.status == .exited(0), "\(png.errorText)")
        // Four bits a pixel, with a palette.
        #expect(png.output.dropFirst(24).prefix(2).elementsEqual([4, 3]))
        let webp = try await EideticProgram.run("convert", "--format=webp", "--colors", "16", "-", "-", input: source)
        #expect(webp.status == .exited(1) && webp.errorText.contains("WebP has no palette"))
    }

    @Test("F05 a lower quality makes a smaller file")
    func quality() async throws {
        let source = try TestImages.encoded(as: .png, width: 400, height: 300)
        let low = try await EideticProgram.run("convert", "--format=jpeg", "--quality", "10", "-", "-", input: source)
        let high = try await EideticProgram.run("convert", "--format=jpeg", "--quality", "95", "-", "-", input: source)
        #expect(low.status == .exited(0))
        #expect(low.output.count < high.output.count)
    }

    @Test(
        "a failed conversion leaves no file and reports the reason",
        arguments: [
            ("in.png", "out.xyz", Int32(2), "has no known file extension"),
            ("in.png", "none/out.png", 1, "none/out.png: No such file or directory"),
            ("text", "out.png", 1, "text: "),
            ("cut.png", "out.png", 1, "cut.png: "),
            ("missing", "out.png", 1, "missing: No such file or directory"),
        ]
    )
    func fails(_ source: String, target: String, status: Int32, message: String) async throws {
        try directory.write(try TestImages.encoded(as: .png), to: "in.png")
        try directory.write(Array(try TestImages.encoded(as: .png).prefix(60)), to: "cut.png")
        try directory.write(Array("not an image".utf8), to: "text")
        let words = ["convert", source, target]
        let result = try await Subprocess.run(EideticProgram.path, arguments: words, directory: directory.path)
        #expect(result.status == .exited(status))
        #expect(result.errorText.contains(message))
        #expect(try FileSystem().entryNames(in: directory.path).sorted() == ["cut.png", "in.png", "text"])
    }
}
