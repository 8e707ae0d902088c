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
        /// A Boolean value indicating whether a chunk is wrong: as in browsers, the frames before it are the animation.
        private var isEnded = false
        private var includesDefaultImage = false

        /// A Boolean value indicating whether the pixels of the last frame may continue.
        private var isFrameOpen = false

        /// A Boolean value indicating whether the file announces more than one frame, and nothing contradicts it.
        var announcesFrames: Bool { declaredFrameCount > 1 && (!isEnded || frameCount > 1) }

        /// A Boolean value indicating whether there is one frame beside a default image, and no other is announced, or
        /// none before a fault.
        var isOtherFrame: Bool {
            frameCount == 1 && !includesDefaultImage && (declaredFrameCount == 1 || isEnded)
        }

        /// The frames whose pixels have begun.
        var frames: [Frame] { Array(readFrames.prefix(frameCount)) }

        /// The number of frames whose pixels have begun.
        var frameCount: Int {
            guard declaredFrameCount > 0, let last = readFrames.last else { return 0 }
            return readFrames.count - (last.data.isEmpty ? 1 : 0)
        }

        /// The number of frames whose pixels are complete.
        var wholeFrameCount: Int { min(frameCount, readFrames.count - (isFrameOpen ? 1 : 0)) }

        /// Ends the animation, without a frame that is not complete.
        private mutating func end() {
            isEnded = true
            if isFrameOpen { readFrames.removeLast() }
            isFrameOpen = false
        }

        /// Returns one of the frames whose pixels have begun.
        func frame(at index: Int) -> Frame { readFrames[index] }

        /// Records that no more pixels of the last frame follow.
        mutating func closeFrame() { isFrameOpen = false }

        /// Lets the frames refer to the bytes at their present address.
        mutating func move(from source: UnsafeRawPointer, to target: UnsafeRawPointer) {
            for index in readFrames.indices {
                readFrames[index].data = readFrames[index].data.map { $0.moved(from: source, to: target) }
            }
        }

        mutating func readAnimationControl(_ content: UnsafeRawBufferPointer) {
            guard declaredFrameCount == 0, let count = content.bigEndian32(at: 0),
                let plays = content.bigEndian32(at: 4)
            else { return }
            declaredFrameCount = count
            self.playCount = plays
        }

        mutating func readFrameControl(
            _ content: UnsafeRawBufferPointer,
            isDefault: Bool,
            canvas: PixelSize
        ) throws(EideticError) {
            guard !isEnded else { return }
            guard content.count == 26, consumeSequenceNumber(in: content), let frame = Self.frame(from: content),
                !isDefault || (readFrames.isEmpty && frame.area == FrameArea(canvas: canvas)),
                frame.area.isContained(in: canvas), readFrames.last?.data.isEmpty != true,
                declaredFrameCount == 0 || readFrames.count < declaredFrameCount
            else { return end() }
            includesDefaultImage = includesDefaultImage || isDefault
            readFrames.append(frame)
            isFrameOpen = true
            try FrameCountLimit.check(readFrames.count, format: .png)
        }

        mutating func appendDefaultImageData(_ data: UnsafeRawBufferPointer) {
            guard includesDefaultImage, readFrames.count == 1 else { return }
            readFrames[0].data.append(data)
        }

        mutating func appendFrameData(_ content: UnsafeRawBufferPointer) {
            guard !isEnded else { return }
            guard consumeSequenceNumber(in: content), let data = content.slice(at: 4, count: content.count - 4),
                !readFrames.isEmpty, !includesDefaultImage || readFrames.count > 1
            else { return end() }
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
