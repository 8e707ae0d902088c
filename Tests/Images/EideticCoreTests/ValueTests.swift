import EideticCore
import Testing

@Suite("Values")
struct ValueTests {
    @Test("C21 times at the ends of their range are clamped, not wrapped")
    func extremeTimes() {
        let (first, last) = (Timestamp(nanoseconds: .min), Timestamp(nanoseconds: .max))
        #expect(last - first == .nanoseconds(Int64.max))
        #expect(first - last == .nanoseconds(Int64.min))
        #expect(first - first == .zero && last - last == .zero)
        #expect(last + .seconds(Int64.max) == last)
        #expect(first + .seconds(Int64.min) == first)
        #expect(Timestamp(seconds: .max) == last)
        #expect(Timestamp(seconds: .min) == first)
        #expect((Duration.seconds(9_223_372_036) + .milliseconds(900)).inNanoseconds == .max)
        #expect((Duration.seconds(-9_223_372_036) - .milliseconds(900)).inNanoseconds == .min)
        #expect(Timestamp(nanoseconds: 1_999_999_999_999_999_999).seconds == 1_999_999_999)
        #expect(Timestamp(nanoseconds: -1).seconds == -1)
    }

    @Test("C18 keys of a process are not those that anybody can compute, and differ in each process")
    func processKeys() async throws {
        let text = "https://host/a.png"
        #expect(CacheKey(forProcess: text) != CacheKey(text))
        #expect(CacheKey(forProcess: text) == CacheKey(forProcess: text))
        #expect(CacheKey(forProcess: text) != CacheKey(forProcess: "https://host/b.png"))
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            print(CacheKey(forProcess: "https://host/a.png").hexadecimal)
        }
        let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
        #expect(output.contains { $0.isHexDigit })
        #expect(!output.contains(CacheKey(forProcess: text).hexadecimal))
    }

    @Test(
        "C12 a byte count is formatted for people",
        arguments: [
            (0, "0 bytes"), (1, "1 byte"), (999, "999 bytes"), (1_000, "1.0 KB"), (20_480, "20.5 KB"),
            (999_949, "999.9 KB"), (999_999, "1.0 MB"), (4_200_000, "4.2 MB"), (-1_500, "-1.5 KB"),
        ]
    )
    func byteCounts(_ bytes: Int, description text: String) { #expect(ByteCount(bytes).description == text) }

    @Test(
        "C10 a byte count is parsed as people write it",
        arguments: [("200", 200), ("64K", 65_536), ("64kb", 64_000), ("20MB", 20_000_000), ("1.5GiB", 1_610_612_736)]
    )
    func parsesByteCounts(_ text: String, bytes: Int) { #expect(ByteCount(parsing: text)?.bytes == bytes) }

    @Test(
        "C10 text that is not a byte count is rejected",
        arguments: ["", "x", "-1", "5Q", "1e30G", "99999999999T", "1.2.3K"]
    )
    func refusesByteCounts(_ text: String) { #expect(ByteCount(parsing: text) == nil) }

    @Test(
        "F04 a size is scaled to a target without enlarging",
        arguments: [
            (PixelSize(width: 4_000, height: 3_000), PixelSize(width: 400, height: 400), ContentMode.fit, "400x300"),
            (
                PixelSize(width: 4_000, height: 3_000), PixelSize(width: 400, height: 400), ContentMode.fillCropped(),
                "400x400"
            ),
            (PixelSize(width: 4_000, height: 3_000), PixelSize(width: 400, height: 400), .fill, "533x400"),
            (PixelSize(width: 4_000, height: 3_000), PixelSize(width: 400, height: 400), .stretch, "400x400"),
            (PixelSize(width: 100, height: 300), PixelSize(width: 200, height: 200), .fillCropped(), "100x100"),
            (PixelSize(width: 300, height: 199), PixelSize(width: 200, height: 200), .fillCropped(), "199x199"),
            (PixelSize(width: 300, height: 200), PixelSize(width: 200, height: 200), .fillCropped(), "200x200"),
            (PixelSize(width: 300, height: 201), PixelSize(width: 200, height: 200), .fillCropped(), "200x200"),
            (PixelSize(width: 100, height: 300), PixelSize(width: 400, height: 200), .stretch, "100x50"),
            (
                PixelSize(width: 800, height: 600), PixelSize(width: 400, height: PixelSize.unlimitedSide),
                .fillCropped(),
                "400x300"
            ),
            (PixelSize(width: 100, height: 50), PixelSize(width: 400, height: 400), ContentMode.fit, "100x50"),
            (PixelSize(width: 10_000, height: 1), PixelSize(width: 100, height: 100), ContentMode.fit, "100x1"),
        ]
    )
    func scales(_ size: PixelSize, target wanted: PixelSize, mode: ContentMode, expected result: String) {
        #expect(size.scaled(to: wanted, mode: mode).description == result)
    }

    @Test("F04 sizes are parsed", arguments: [("400x300", "400x300"), ("64", "64x64")])
    func parsesSizes(_ text: String, expected result: String) {
        #expect(PixelSize(parsing: text)?.description == result)
    }

    @Test("F04 a side may be omitted")
    func openSides() throws {
        let size = try #require(PixelSize(parsing: "400x"))
        #expect(PixelSize(width: 800, height: 6_000).scaled(to: size, mode: .fit).description == "400x3000")
    }

    @Test("F04 text that is not a size is rejected", arguments: ["", "x", "0x5", "-4x4", "axb", "4x4x4", "4.5x2"])
    func refusesSizes(_ text: String) { #expect(PixelSize(parsing: text) == nil) }

    @Test("F07 a pixel count that overflows is the largest integer")
    func overflow() { #expect(PixelSize(width: .max, height: 2).pixelCount == .max) }

    @Test("F02 orientations out of range mean upright", arguments: [-1, 0, 9, 65_535])
    func orientation(_ value: Int) { #expect(ImageOrientation(exif: value) == .up) }

    @Test("L26 levels are parsed from the environment variable")
    func logLevels() {
        #expect(Log.parseLevels("info")[.fetch] == .info)
        #expect(Log.parseLevels("fetch=debug,store=error") == [.fetch: .debug, .store: .error])
        #expect(Log.parseLevels("nonsense,fetch=loud").isEmpty)
    }

    @Test("C04 a key's hash is a pure function of its text")
    func keys() {
        #expect(CacheKey("https://example.org/a.png") == CacheKey("https://example.org/a.png"))
        #expect(CacheKey("a") != CacheKey("b"))
        #expect(CacheKey("").hexadecimal == "99aa06d3014798d86001c324468d497f")
    }

    @Test("C09 a time is clamped instead of overflowing")
    func time() {
        #expect(Timestamp(nanoseconds: .max) + .seconds(1) == Timestamp(nanoseconds: .max))
        #expect(Timestamp(seconds: 10) - Timestamp(seconds: 4) == .seconds(6))
        #expect(Timestamp(nanoseconds: -1).seconds == -1)
    }

    @Test("L07 an error is that of a request of its own, unless it says otherwise")
    func ownError() { #expect(!EideticError(.httpStatus, message: "not found").isRemembered) }
}
