/// Animated PNG files.
enum APNGFixtures {
    /// 4 x 4 pixels, three frames: red; a green square of 2 x 2 at (1, 1), then cleared; half-transparent blue
    /// everywhere.
    static let threeFrames: [UInt8] = {
        var png = PNGWriter(width: 4, height: 4, colorType: 6)
        png.addChunk("acTL", content: png.bigEndian(3) + png.bigEndian(0))
        png.addChunk("fcTL", content: frameControl(sequence: 0, width: 4, height: 4, denominator: 2))
        png.addPixels(rows(width: 4, height: 4, colour: [255, 0, 0, 255]))
        png.addChunk(
            "fcTL",
            content: frameControl(
                sequence: 1,
                width: 2,
                height: 2,
                x: 1,
                y: 1,
                numerator: 5,
                denominator: 0,
                disposal: 1
            )
        )
        png.addChunk(
            "fdAT",
            content: png.bigEndian(2) + PNGWriter.zlibStream(of: rows(width: 2, height: 2, colour: [0, 255, 0, 255]))
        )
        png.addChunk(
            "fcTL",
            content: frameControl(
                sequence: 3,
                width: 4,
                height: 4,
                numerator: 0,
                denominator: 100,
                disposal: 2,
                blend: 1
            )
        )
        png.addChunk(
            "fdAT",
            content: png.bigEndian(4) + PNGWriter.zlibStream(of: rows(width: 4, height: 4, colour: [0, 0, 255, 128]))
        )
        return png.finished
    }()

    static func rows(width: Int, height: Int, colour: [UInt8]) -> [UInt8] {
        (0..<height).flatMap { _ in [0] + (0..<width).flatMap { _ in colour } }
    }

    static func frameControl(
        sequence: Int,
        width: Int,
        height: Int,
        x: Int = 0,
        y: Int = 0,
        numerator: Int = 1,
        denominator: Int = 10,
        disposal: UInt8 = 0,
        blend: UInt8 = 0
    ) -> [UInt8] {
        let times = [numerator >> 8, numerator, denominator >> 8, denominator].map { UInt8(truncatingIfNeeded: $0) }
        let writer = PNGWriter(width: 1, height: 1)
        return [sequence, width, height, x, y].flatMap(writer.bigEndian) + times + [disposal, blend]
    }
}
