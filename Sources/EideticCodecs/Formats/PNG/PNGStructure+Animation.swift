import EideticCore

extension PNGStructure {
    /// The animation chunks of a PNG and their validity.
    ///
    /// - SeeAlso: PNG (third edition), sections 4.9 and 11.3.6.
    struct AnimationState {
        private(set) var playCount = 1
        private var declaredFrameCount = 0
        private var readFrames: [Frame] = []
        private var nextSequenceNumber = 0
        private var isInvalid = false
        private var includesDefaultImage = false

        /// A Boolean value indicating whether the file announces more than one frame, and nothing contradicts it.
        var announcesFrames: Bool { declaredFrameCount > 1 && !isInvalid }

        /// Returns the frames; empty if they are invalid.
        func frames(isComplete: Bool, canvas: PixelSize) -> [Frame] {
            // Pixels that have not arrived yet do not make the frames before them invalid.
            let isOpen = !isComplete && readFrames.last?.data.isEmpty == true
            let readFrames = isOpen ? Array(readFrames.dropLast()) : readFrames
            guard declaredFrameCount > 0, !isInvalid, !isComplete || readFrames.count == declaredFrameCount,
                readFrames.allSatisfy({ $0.area.isContained(in: canvas) && !$0.data.isEmpty }),
                !includesDefaultImage || readFrames.first?.area == FrameArea(canvas: canvas)
            else { return [] }
            return readFrames
        }

        mutating func readAnimationControl(_ content: UnsafeRawBufferPointer) {
            guard declaredFrameCount == 0, let count = content.bigEndian32(at: 0),
                let plays = content.bigEndian32(at: 4)
            else { return }
            declaredFrameCount = count
            self.playCount = plays
        }

        mutating func readFrameControl(_ content: UnsafeRawBufferPointer, isDefault: Bool) throws(EideticError) {
            guard content.count == 26, consumeSequenceNumber(in: content), let frame = Self.frame(from: content),
                !isDefault || readFrames.isEmpty
            else { isInvalid = true; return }
            includesDefaultImage = includesDefaultImage || isDefault
            readFrames.append(frame)
            try FrameCountLimit.check(readFrames.count, format: .png)
        }

        mutating func appendDefaultImageData(_ data: UnsafeRawBufferPointer) {
            guard includesDefaultImage, readFrames.count == 1 else { return }
            readFrames[0].data.append(data)
        }

        mutating func appendFrameData(_ content: UnsafeRawBufferPointer) {
            guard !isInvalid else { return }
            guard consumeSequenceNumber(in: content), let data = content.slice(at: 4, count: content.count - 4),
                !readFrames.isEmpty, !includesDefaultImage || readFrames.count > 1
            else { isInvalid = true; return }
            readFrames[readFrames.count - 1].data.append(data)
        }

        private mutating func consumeSequenceNumber(in content: UnsafeRawBufferPointer) -> Bool {
            defer { nextSequenceNumber += 1 }
            return content.bigEndian32(at: 0) == nextSequenceNumber
        }

        private static func frame(from content: UnsafeRawBufferPointer) -> Frame? {
            guard let width = content.bigEndian32(at: 4), let height = content.bigEndian32(at: 8),
                let x = content.bigEndian32(at: 12),
                let y = content.bigEndian32(at: 16), let numerator = content.bigEndian16(at: 20),
                let denominator = content.bigEndian16(at: 22),
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
