#if GTK
import EideticCore
import EideticGTK
import EideticTestSupport
import Glibc
import Testing

@Suite("Gallery while it receives", .timeLimit(.minutes(3)), .needsGallery)
struct GalleryProgressTests {
    /// Writes a screenshot to the directory that the variable EIDETIC_SCREENSHOTS names, if there is one.
    private func save(_ pixels: PixelBuffer, as name: String) throws {
        guard let directory = getenv("EIDETIC_SCREENSHOTS") else { return }
        let image = Image(frames: [.init(pixels: pixels)], format: .png, sourceSize: pixels.size)
        let bytes = try image.encoded(as: .png)
        let file = try #require(fopen("\(String(cString: directory))/\(name).png", "w"))
        defer { fclose(file) }
        #expect(bytes.withUnsafeBytes { fwrite($0.baseAddress, 1, $0.count, file) } == bytes.count)
    }

    /// Returns a progressive JPEG of fine lines.
    private func progressiveJPEG(in directory: TemporaryDirectory) async throws -> [UInt8] {
        let size = PixelSize(width: 1_000, height: 700)
        let pixels = try PixelBuffer(size: size, alpha: .opaque) { index in
            let (x, y) = (index % 1_000, index / 1_000), isLine = (x * x + y * y) / 4_000 % 2 == 0
            return isLine ? SIMD4(UInt8(x / 5), 200, UInt8(y / 4), 255) : SIMD4(40, UInt8(y / 4), UInt8(x / 5), 255)
        }
        let image = Image(frames: [.init(pixels: pixels)], format: .png, sourceSize: size)
        try directory.write(try image.encoded(as: .png), to: "lines.png")
        let arguments = [directory.path(of: "lines.png"), "-interlace", "JPEG", "-quality", "90", "jpeg:-"]
        return try await Subprocess.run("convert", arguments: arguments).output
    }

    /// Captures the window again and again until it does not change any more, and is not the one before.
    private func settledCapture(of gallery: RunningGallery, after previous: PixelBuffer) async throws -> PixelBuffer {
        var last = previous
        try await eventually("another image") {
            let capture = try await gallery.capture()
            defer { last = capture }
            return capture.distance(from: previous) > 0.5 && capture.distance(from: last) == 0
        }
        return last
    }

    @Test("L10 the Gallery's view of one image sharpens while it is received: after 10, 50 and 100 % of the bytes")
    func sharpens() async throws {
        let gallery = try await RunningGallery(imageCount: 0)
        let jpeg = try await progressiveJPEG(in: gallery.directory), gates = [Gate(), Gate()]
        let server = try ScriptedOrigin { _ in
            let (tenth, half) = (jpeg.count / 10, jpeg.count / 2)
            return [
                .head(200, headers: ["Content-Length": "\(jpeg.count)", "Content-Type": "image/jpeg"]),
                .send(Array(jpeg[..<tenth])), .trickle(Array(jpeg[tenth..<half]), until: gates[0]),
                .trickle(Array(jpeg[half...]), until: gates[1]),
            ]
        }
        let reader = try await gallery.start([server.url + "/lines.jpg"], awaiting: "state")
        try await gallery.focus()
        // The list is read after the start; only then the key has a receiver.
        try await eventually("the grid has the focus") {
            try await reader.items(named: "lines").contains(where: \.isFocused)
        }
        let empty = try await gallery.capture()
        try await gallery.press("Return")
        var captures = [try await settledCapture(of: gallery, after: empty)]
        for gate in gates {
            gate.open()
            captures.append(try await settledCapture(of: gallery, after: captures[captures.count - 1]))
        }
        await gallery.waitForOutput("detail shown")
        for (capture, name) in zip(captures, ["10", "50", "100"]) { try save(capture, as: "detail-\(name)") }
        let distances = captures.map { $0.distance(from: captures[2]) }
        print("mean distances from the complete image: \(distances)")
        #expect(distances[0] > 1.5 * distances[1] && distances[1] > 0)
        // All of the image is visible from the start.
        #expect(distances[0] < empty.distance(from: captures[2]))
        #expect(server.requests.count == 1)
        try await gallery.quit()
    }
}

extension PixelBuffer {
    /// Returns the mean distance of the channels in the middle of two images of one size.
    fileprivate func distance(from other: PixelBuffer) -> Double {
        guard size == other.size else { return .infinity }
        var (sum, count) = (0, 0)
        for y in stride(from: size.height / 4, to: size.height * 3 / 4, by: 4) {
            for x in stride(from: size.width / 4, to: size.width * 3 / 4, by: 4) {
                let (first, second) = (self[x, y], other[x, y])
                sum += (0..<3).reduce(0) { $0 + abs(Int(first[$1]) - Int(second[$1])) }
                count += 3
            }
        }
        return Double(sum) / Double(max(1, count))
    }
}
#endif
