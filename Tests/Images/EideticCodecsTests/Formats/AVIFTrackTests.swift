import EideticCodecs
import EideticCore
import Testing

private let isBuilt = ImageDecoder.supportedFormats.contains(.avif) && AV1Image.isAvailable

@Suite("Tracks of AVIF sequences", .enabled(if: isBuilt, "this build does not decode AVIF, or there is no avifenc"))
struct AVIFTrackTests {
    /// Returns a sequence of two frames with alpha, of 40 and 80 ms.
    private func sequence() async throws -> [UInt8] {
        let frames = try [90, 200].map { value in
            try TestImages.makePixels(width: 64, height: 64, alpha: .straight) { x, _ in
                [UInt8(value), UInt8(x), 0, UInt8(255 - x)]
            }
        }
        let arguments = ["-l", "--timescale", "1000", "--duration", "40"]
        return try await AV1Image.file(of: frames, arguments: arguments)
    }

    /// Returns the file with its movie replaced by one with these tracks.
    private func replacing(_ file: [UInt8], tracks: ([[UInt8]]) -> [[UInt8]]) -> [UInt8] {
        var bytes = file
        let boxes = Self.boxes(in: file)
        guard let movie = boxes.first(where: { $0.name == "moov" }) else { return [] }
        let inner = Self.boxes(in: Array(file[movie.range].dropFirst(8)))
        let content = Array(file[movie.range].dropFirst(8))
        let others = inner.filter { $0.name != "trak" }.flatMap { content[$0.range] }
        let old = inner.filter { $0.name == "trak" }.map { Array(content[$0.range]) }
        // The old movie becomes free space, so that no offset changes.
        bytes.replaceSubrange(movie.range.lowerBound + 4..<movie.range.lowerBound + 8, with: Array("free".utf8))
        return bytes + HEIFContainer.box("moov", others + tracks(old).flatMap { $0 })
    }

    private static func boxes(in bytes: [UInt8]) -> [(name: String, range: Range<Int>)] {
        var offset = 0
        var boxes: [(String, Range<Int>)] = []
        while offset + 8 <= bytes.count {
            let length = bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            boxes.append((String(decoding: bytes[offset + 4..<offset + 8], as: UTF8.self), offset..<offset + length))
            offset += max(8, length)
        }
        return boxes
    }

    private func replacing(_ text: String, with other: String, in bytes: [UInt8]) -> [UInt8] {
        let text = Array(text.utf8)
        var bytes = bytes
        for index in bytes.indices where bytes[index...].starts(with: text) {
            bytes.replaceSubrange(index..<index + text.count, with: Array(other.utf8))
        }
        return bytes
    }

    /// Returns a track of sound with frames of 1 s.
    private var sound: [UInt8] {
        let long = HEIFContainer.long, zeros = { [UInt8](repeating: 0, count: $0) }
        let header = HEIFContainer.full("tkhd", long(0) + long(0) + long(9) + zeros(68))
        let media = HEIFContainer.full("mdhd", long(0) + long(0) + long(1) + long(2) + zeros(4))
        let handler = HEIFContainer.full("hdlr", long(0) + Array("soun".utf8) + zeros(13))
        let entry = HEIFContainer.box("mp4a", zeros(28))
        let table =
            HEIFContainer.full("stsd", long(1) + entry)
            + HEIFContainer.full("stts", long(1) + long(2) + long(1))
            + HEIFContainer.full("stsc", long(1) + long(1) + long(2) + long(1))
            + HEIFContainer.full("stsz", long(4) + long(2)) + HEIFContainer.full("stco", long(1) + long(0))
        let information = HEIFContainer.box("minf", HEIFContainer.box("stbl", table))
        return HEIFContainer.box("trak", header + HEIFContainer.box("mdia", media + handler + information))
    }

    private func decode(_ bytes: [UInt8]) throws -> Image {
        var options = DecodeOptions.stored
        options.frames = .all
        return try ImageDecoder.decode(bytes, options: options)
    }

    private func check(_ image: Image, alpha: PixelBuffer.Alpha) {
        #expect(image.frames.count == 2)
        #expect(image.frames.map(\.duration) == [.milliseconds(40), .milliseconds(40)])
        for (frame, value) in zip(image.frames, [90, 200]) {
            #expect(frame.pixels.alpha == alpha)
            #expect(frame.pixels[7, 9] == [UInt8(value), 7, 0, alpha == .opaque ? 255 : 248])
        }
    }

    @Test("F02 a sequence with sound, before or behind the images") func soundTrack() async throws {
        let file = try await sequence()
        check(try decode(file), alpha: .straight)
        check(try decode(replacing(file) { [sound] + $0 }), alpha: .straight)
        check(try decode(replacing(file) { $0 + [sound] }), alpha: .straight)
    }

    @Test("F02 a sequence's depth is no alpha, and alpha beside it counts") func depthTrack() async throws {
        let file = try await sequence()
        let depth = replacing(file) { [$0[0], replacing("auxiliary:alpha", with: "auxiliary:depth", in: $0[1])] }
        check(try decode(depth), alpha: .opaque)
        #expect(try ImageDecoder.header(of: depth)?.hasAlpha == false)
        let both = replacing(file) { [$0[0], replacing("auxiliary:alpha", with: "auxiliary:depth", in: $0[1]), $0[1]] }
        check(try decode(both), alpha: .straight)
    }

    /// Returns the sequence with an edit list in its first track, and the duration of that track.
    private func edited(_ file: [UInt8], list: [UInt8]?, total: [UInt8]) -> [UInt8] {
        replacing(file) { tracks in
            var content = Array(tracks[0].dropFirst(8))
            // Since version 1.0 libavif writes a list of its own.
            if let own = Self.boxes(in: content).first(where: { $0.name == "edts" }) {
                content.removeSubrange(own.range)
            }
            guard let header = Self.boxes(in: content).first(where: { $0.name == "tkhd" }) else { return [] }
            // The duration in version 1 of the header.
            let start = header.range.lowerBound + 8 + 28
            content.replaceSubrange(start..<start + 8, with: total)
            if let list {
                content.insert(contentsOf: HEIFContainer.box("edts", list), at: header.range.upperBound)
            }
            return [HEIFContainer.box("trak", content)] + tracks.dropFirst()
        }
    }

    @Test("F03 a sequence plays as often as its edit list says, and for ever without one")
    func loops() async throws {
        let file = try await sequence(), long = HEIFContainer.long
        func list(version: UInt8 = 0, repeats: Bool = true, count: Int = 1, edit: Int = 80) -> [UInt8] {
            let times = version == 0 ? long(edit) + long(0) : long(0) + long(edit) + long(0) + long(0)
            let head = [version, 0, 0, repeats ? 1 : 0] + long(count)
            return HEIFContainer.box("elst", head + times + [0, 1, 0, 0])
        }
        let endless = [UInt8](repeating: 255, count: 8)
        let cases: [(list: [UInt8]?, total: [UInt8], loopCount: Int?)] = [
            (nil, long(0) + long(240), nil), (list(repeats: false), long(0) + long(80), 1),
            (list(), long(0) + long(80), 1), (list(version: 1), long(0) + long(240), 3),
            (list(), long(0) + long(241), 4), (list(), endless, nil),
            (list(edit: 1), Array(endless.dropLast()) + [254], nil),
        ]
        for (index, (list, total, loopCount)) in cases.enumerated() {
            let bytes = edited(file, list: list, total: total)
            #expect(try ImageDecoder.header(of: bytes)?.loopCount == loopCount, "case \(index)")
            #expect(try decode(bytes).loopCount == loopCount, "case \(index)")
        }
        // libavif 0.11 ignores an invalid list; since version 1.0 it refuses the file.
        for list in [list(edit: 0), list(count: 2), HEIFContainer.box("elst", [0])] {
            do {
                #expect(try decode(edited(file, list: list, total: long(0) + long(240))).loopCount == nil)
            } catch let error as EideticError {
                #expect(error.code == .corrupt, "\(error)")
            }
        }
    }

    // ISO/IEC 14496-12, 4.2.2: the last box may reach to the end of the file.
    @Test("F02 the tables of a still image and of a sequence may be the last box, without a size")
    func sizeOfLastTable() async throws {
        let frame = try TestImages.makePixels(width: 8, height: 8, alpha: .opaque) { _, _ in [10, 200, 30, 255] }
        let still = try await AV1Image.file(of: [frame], arguments: [])
        for (file, name) in [(still, "meta"), (try await sequence(), "moov")] {
            let table = try #require(Self.boxes(in: file).first { $0.name == name }?.range)
            var moved = file
            moved.replaceSubrange(table.lowerBound + 4..<table.lowerBound + 8, with: Array("free".utf8))
            moved += HEIFContainer.long(0) + file[table].dropFirst(4)
            #expect(try ImageDecoder.header(of: moved) == ImageDecoder.header(of: file), "\(name)")
            let frames = try decode(moved).frames
            #expect(frames.map { $0.pixels[7, 5] } == (try decode(file).frames.map { $0.pixels[7, 5] }), "\(name)")
        }
    }

    @Test("F07 truncated sequences with further tracks are errors") func truncated() async throws {
        let file = replacing(try await sequence()) {
            [sound, $0[0], replacing("auxiliary:alpha", with: "auxiliary:depth", in: $0[1])]
        }
        for count in stride(from: 0, to: file.count, by: 97) {
            #expect(throws: EideticError.self) { _ = try decode(Array(file.prefix(count))) }
        }
    }
}
