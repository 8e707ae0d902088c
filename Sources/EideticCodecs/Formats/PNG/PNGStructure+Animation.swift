import EideticCore

extension PNGStructure {
    /// The animation's chunks, and whether they keep the rules.
    ///
    /// - SeeAlso: PNG (third edition), sections 4.9 and 11.3.6.
    struct AnimationState {
        private(set) var plays = 1
        private var announced = 0
        private var found: [Frame] = []
        private var nextSequenceNumber = 0
        private var isBroken = false
        private var defaultIsFrame = false

        /// The frames, if they keep the rules.
        func frames(isComplete: Bool, canvas: PixelSize) -> [Frame] {
            guard announced > 0, !isBroken, !isComplete || found.count == announced,
                found.allSatisfy({ $0.area.lies(within: canvas) && !$0.data.isEmpty }),
                !defaultIsFrame || found.first?.area == FrameArea(canvas)
            else { return [] }
            return found
        }

        mutating func begin(_ content: UnsafeRawBufferPointer) {
            guard announced == 0, let count = content.big32(0), let plays = content.big32(4) else { return }
            announced = count
            self.plays = plays
        }

        mutating func beginFrame(_ content: UnsafeRawBufferPointer, isDefault: Bool) throws(EideticError) {
            guard content.count == 26, takeSequenceNumber(content), let frame = Self.frame(content),
                !isDefault || found.isEmpty
            else { isBroken = true; return }
            defaultIsFrame = defaultIsFrame || isDefault
            found.append(frame)
            try FrameCount.check(found.count, .png)
        }

        mutating func addDefault(_ data: UnsafeRawBufferPointer) {
            guard defaultIsFrame, found.count == 1 else { return }
            found[0].data.append(data)
        }

        mutating func add(_ content: UnsafeRawBufferPointer) {
            guard !isBroken else { return }
            guard takeSequenceNumber(content), let data = content.slice(4, content.count - 4),
                !found.isEmpty, !defaultIsFrame || found.count > 1
            else { isBroken = true; return }
            found[found.count - 1].data.append(data)
        }

        private mutating func takeSequenceNumber(_ content: UnsafeRawBufferPointer) -> Bool {
            defer { nextSequenceNumber += 1 }
            return content.big32(0) == nextSequenceNumber
        }

        private static func frame(_ content: UnsafeRawBufferPointer) -> Frame? {
            guard let width = content.big32(4), let height = content.big32(8), let x = content.big32(12),
                let y = content.big32(16), let numerator = content.big16(20), let denominator = content.big16(22),
                let disposal = FrameDisposal(rawValue: Int(content[24])), content[25] <= 1
            else { return nil }
            return Frame(
                area: FrameArea(x: x, y: y, size: PixelSize(width: width, height: height)),
                duration: .microseconds(numerator * 1_000_000 / (denominator == 0 ? 100 : denominator)),
                disposal: disposal,
                blends: content[25] == 1
            )
        }
    }
}
