import EideticCodecs
import EideticCore
import Testing

@Suite("Limits of colour profiles", .timeLimit(.minutes(1)))
struct ProfileLimitTests {
    /// Returns a profile with one multi-process tag of `stageCount` stages, all of which are the same 60 bytes.
    private static func multiProcessProfile(stageCount: Int) -> [UInt8] {
        let one: [UInt8] = [0x3f, 0x80, 0, 0], zero: [UInt8] = [0, 0, 0, 0]
        let matrix = (0..<12).flatMap { $0 < 9 && $0 % 4 == 0 ? one : zero }
        let stage = Array("matf".utf8) + [0, 0, 0, 0, 0, 3, 0, 3] + matrix
        let position = bigEndian(16 + 8 * stageCount) + bigEndian(stage.count)
        let tag = Array("mpet".utf8) + [0, 0, 0, 0, 0, 3, 0, 3] + bigEndian(stageCount)
        let stages = Array(repeating: position, count: stageCount).flatMap { $0 }
        return adding(tags: [("D2B1", tag + stages + stage)], to: TestProfile.rgb(swapsRedAndGreen: true, gamma: 2.2))
    }

    /// Returns a profile with tags more, version 4.3.
    private static func adding(tags: [(String, [UInt8])], to profile: [UInt8]) -> [UInt8] {
        let count = Int(profile[131]), end = 132 + 12 * count, shift = 12 * tags.count
        var table: [UInt8] = [], data: [UInt8] = []
        for index in 0..<count {
            let entry = Array(profile[132 + 12 * index..<144 + 12 * index])
            let offset = entry[4..<8].reduce(0) { $0 << 8 | Int($1) }
            table += entry[0..<4] + bigEndian(offset + shift) + entry[8..<12]
        }
        for (name, content) in tags {
            table += Array(name.utf8) + bigEndian(profile.count + shift + data.count) + bigEndian(content.count)
            data += content
        }
        var head = Array(profile[0..<128])
        head.replaceSubrange(0..<4, with: bigEndian(profile.count + shift + data.count))
        head.replaceSubrange(8..<12, with: [4, 0x30, 0, 0])
        return head + bigEndian(count + tags.count) + table + profile[end...] + data
    }

    private static func bigEndian(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    @Test("C18 a profile with a multi-process tag of 20,000 stages is converted by its usual tags")
    func multiProcess() throws {
        var png = PNGWriter(width: 1, height: 1)
        let profile = Self.multiProcessProfile(stageCount: 20_000)
        png.addChunk("iCCP", content: Array("test\0\0".utf8) + PNGWriter.zlibStream(of: profile))
        png.addPixels([0, 250, 40, 90])
        let pixel = try ImageDecoder.decode(png.finished).pixels[0, 0]
        #expect(pixel.y > 240 && pixel.x < 60)
    }

    @Test("C18 of the tags of a profile only those remain that a conversion uses, each once")
    func tags() throws {
        let profile = Self.adding(
            tags: ["B2D0", "D2B3", "rXYZ", "priv"].map { ($0, [1, 2, 3, 4]) },
            to: TestProfile.rgb(swapsRedAndGreen: false, gamma: 1)
        )
        let reduced = try #require(ICCProfile.reduced(profile))
        #expect(reduced.count == profile.count && Int(reduced[131]) == Int(profile[131]) - 4)
        let names = (0..<Int(reduced[131])).map { index in
            String(decoding: reduced[132 + 12 * index..<136 + 12 * index], as: UTF8.self)
        }
        #expect(names == ["rXYZ", "gXYZ", "bXYZ", "wtpt", "rTRC", "gTRC", "bTRC"])
    }

    @Test("C18 the size of a profile is limited, and its tags have to be there", arguments: [-1, 0, 1])
    func limits(beyond: Int) {
        let profile = TestProfile.rgb(swapsRedAndGreen: false, gamma: 1)
        let padding = ICCProfile.maximumSize + beyond - profile.count
        let isWithin = beyond <= 0
        #expect((ICCProfile.reduced(profile + Array(repeating: 0, count: padding)) != nil) == isWithin)
        // Chromium 156 uses a profile of more tags than LittleCMS reads.
        let tags = (0..<150).map { _ in ("priv", Array("text".utf8)) }
        #expect(ICCProfile.reduced(Self.adding(tags: tags, to: profile))?[131] == profile[131])
        var endless = profile
        endless.replaceSubrange(128..<132, with: [0xff, 0xff, 0xff, 0xff])
        #expect(ICCProfile.reduced(endless) == nil)
        #expect(ICCProfile.reduced(Array(profile.prefix(140))) == nil)
    }
}
