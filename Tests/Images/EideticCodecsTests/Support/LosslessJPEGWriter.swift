/// A writer of lossless JPEG (SOF3) with the first predictor and codes of five bits.
///
/// - SeeAlso: ITU-T T.81, annex H.
struct LosslessJPEGWriter {
    let width: Int
    let height: Int
    let precision: Int
    let components: Int

    /// The table of codes: the categories 0 to 16, each of five bits.
    static let table: [UInt8] =
        segment(0xc4, [0, 0, 0, 0, 0, 17] + Array(repeating: UInt8(0), count: 11) + Array(UInt8(0)...16))

    private var frame: [UInt8] {
        var content = [UInt8(precision)] + short(height) + short(width) + [UInt8(components)]
        for component in 1...components { content += [UInt8(component), 0x11, 0] }
        return Self.segment(0xc3, content)
    }

    private var scan: [UInt8] {
        var content = [UInt8(components)]
        for component in 1...components { content += [UInt8(component), 0] }
        return Self.segment(0xda, content + [1, 0, 0])
    }

    /// Returns the file of interleaved samples; without the table of codes if `isAbbreviated`.
    func encode(_ samples: [Int], isAbbreviated: Bool = false) -> [UInt8] {
        [0xff, 0xd8] + (isAbbreviated ? [] : Self.table) + frame + scan + entropyCoded(samples) + [0xff, 0xd9]
    }

    private func entropyCoded(_ samples: [Int]) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = 0, count = 0
        func add(_ value: Int, _ bits: Int) {
            for bit in stride(from: bits - 1, through: 0, by: -1) {
                buffer = buffer << 1 | value >> bit & 1
                count += 1
                guard count == 8 else { continue }
                bytes += buffer == 0xff ? [0xff, 0] : [UInt8(buffer)]
                (buffer, count) = (0, 0)
            }
        }
        let row = width * components
        for index in samples.indices {
            let isFirstColumn = index % row < components
            let prediction =
                isFirstColumn
                ? (index < components ? 1 << (precision - 1) : samples[index - row]) : samples[index - components]
            var difference = (samples[index] - prediction) & 0xffff
            if difference > 32_768 { difference -= 65_536 }
            let category = difference == 0 ? 0 : Int.bitWidth - abs(difference).leadingZeroBitCount
            add(category, 5)
            if category < 16 { add(difference < 0 ? difference - 1 : difference, category) }
        }
        while count != 0 { add(1, 1) }
        return bytes
    }

    private func short(_ value: Int) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 255)] }

    private static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
        [0xff, marker, UInt8((content.count + 2) >> 8), UInt8((content.count + 2) & 255)] + content
    }
}
