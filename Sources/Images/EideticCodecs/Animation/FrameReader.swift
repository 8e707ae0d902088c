import EideticCore

/// The frames of an animation in one format, before scaling to the exact size, orientation and colour conversion.
protocol FrameReader: AnyObject {
    /// The properties of the image, of which durations play no part; `nil` if more bytes are needed.
    var header: ImageHeader? { get }
    /// A Boolean value indicating whether the bytes are an animation.
    var isAnimated: Bool { get }
    /// A Boolean value indicating whether no more frames follow.
    var isComplete: Bool { get }
    /// The durations of the frames that can be decoded, as stored.
    var durations: [Duration] { get }
    /// The number of times the frames play; `nil` means forever.
    var loopCount: Int? { get }
    /// The meaning of the colours; `nil` means sRGB.
    var colourSpace: ColourSpace? { get }
    /// The memory that the reader keeps between two calls.
    var retainedByteCount: Int { get }
    /// The most memory that the reader keeps between two calls, whatever frames are decoded.
    var retainedByteLimit: Int { get }

    /// The number of images at full size that decoding a frame needs memory for.
    var canvasCount: Int { get }

    /// Parses the bytes so far, which stay valid until the next call, and may move from one call to the next.
    func update(_ bytes: UnsafeRawBufferPointer, isFileComplete: Bool) throws(EideticError)

    /// Returns the first of the frames that are drawn to decode a frame; the frame itself if it is not known.
    func firstFrameDrawn(for index: Int) -> Int

    /// Decodes a frame of ``durations``.
    func frame(at index: Int, for task: DecodeTask) throws(EideticError) -> PixelBuffer
}

extension FrameReader {
    /// The pixels of the frame, those of the result, and what scaling and conversions need.
    var canvasCount: Int { 4 }

    var retainedByteLimit: Int { retainedByteCount }

    func firstFrameDrawn(for index: Int) -> Int { index }
}

/// The frames of a format that composes them on a canvas.
///
/// A frame is drawn on what the frames before have left. To return to an earlier one, the reader begins at the latest
/// frame that replaces all of the canvas; once it had to draw many frames again, it keeps copies of the canvas at even
/// distances.
final class ComposedFrameReader<Structure: AnimationStructure>: FrameReader {
    private var structure = Structure()
    private var frames: [AnimationFrame] = []
    private var canvas: Canvas?
    /// The frame that was drawn last; -1 on an empty canvas, `nil` on one that shows no frame.
    private var drawnIndex: Int? = -1
    /// Copies of the canvas as the frame with this index finds it.
    private var copies: [Int: CanvasCopy] = [:]
    private var keepsCopies = false
    private var savesCanvas = false
    /// A Boolean value indicating whether the first frame has transparent pixels, or gaps, which only decoding shows.
    private var hasGapInFirstFrame = false
    private let maximumCopyBytes: Int

    /// The number of frames that may be drawn again before copies are kept.
    private static var replayLimit: Int { 4 }

    init(maximumCopyBytes: Int) { self.maximumCopyBytes = maximumCopyBytes }

    var header: ImageHeader? { structure.header }
    var isAnimated: Bool { structure.isAnimated || frames.count > 1 }
    private(set) var isComplete = false
    private(set) var durations: [Duration] = []
    var loopCount: Int? { structure.loopCount }
    var colourSpace: ColourSpace? { structure.colourSpace }

    var retainedByteCount: Int {
        let canvasBytes = 4 * structure.size.pixelCount
        // A frame may save the canvas in order to restore it.
        return canvasBytes * (savesCanvas ? 2 : 1) + copiedByteCount
    }

    /// Two canvases, and copies of it, unless fewer are known to suffice.
    var retainedByteLimit: Int {
        let canvasBytes = 4 * structure.size.pixelCount
        guard isComplete else { return 2 * canvasBytes + maximumCopyBytes }
        return canvasBytes * (savesCanvas ? 2 : 1) + min(maximumCopyBytes, frames.count * canvasBytes)
    }

    private var copiedByteCount: Int { copies.values.reduce(0) { $0 + $1.bytes.count } }

    func update(_ bytes: UnsafeRawBufferPointer, isFileComplete: Bool) throws(EideticError) {
        let size = structure.size
        var failure: EideticError?
        do throws(EideticError) {
            try structure.update(bytes, isFileComplete: isFileComplete)
        } catch {
            failure = error
        }
        if size != structure.size {
            canvas = nil
            drawnIndex = -1
            copies = [:]
        }
        let isWhole = (isFileComplete || structure.isComplete) && failure == nil
        // Those before an error can be decoded.
        addFrames(upTo: isWhole ? structure.frameCount : structure.wholeFrameCount)
        isComplete = isWhole
        if let failure { throw failure }
    }

    /// Adds frames that have arrived; those that are there stay, whatever follows them.
    private func addFrames(upTo count: Int) {
        while frames.count < count {
            let frame = structure.animationFrame(at: frames.count)
            savesCanvas = savesCanvas || frame.disposal == .restorePrevious
            durations.append(frame.duration)
            frames.append(frame)
        }
    }

    func frame(at index: Int, for task: DecodeTask) throws(EideticError) -> PixelBuffer {
        guard index < frames.count else {
            throw EideticError(.truncated, message: "\(task.header.format): frame \(index + 1) has not arrived")
        }
        let canvas = if let canvas { canvas } else { try Canvas(size: structure.size) }
        self.canvas = canvas
        var next = prepare(canvas, for: index)
        while next <= index {
            // A frame that is not what it was taken for is drawn on those before it.
            next = try draw(next, on: canvas, for: task) ? next + 1 : prepare(canvas, for: index)
        }
        return try canvas.content.snapshot(for: task, hasAlpha: structure.hasTransparentCanvas || hasGapInFirstFrame)
    }

    /// The canvas on the heap.
    private final class Canvas {
        var content: AnimationCanvas

        init(size: PixelSize) throws(EideticError) { content = try AnimationCanvas(size: size) }
    }

    /// The state of the canvas from which a frame is drawn.
    private enum Origin {
        case present
        /// An empty canvas, or a copy, before the frame with this index.
        case empty(before: Int), copy(before: Int)
    }

    func firstFrameDrawn(for index: Int) -> Int {
        switch origin(of: index) {
        case .present: min(index, (drawnIndex ?? -1) + 1)
        case .empty(let first), .copy(let first): first
        }
    }

    /// Returns the latest state from which a frame can be drawn.
    private func origin(of index: Int) -> Origin {
        if let drawnIndex, (index - 1...index).contains(drawnIndex) { return .present }
        let key = (0...index).last { isIndependent($0) } ?? 0
        let copy = copies.keys.filter { $0 <= index }.max() ?? 0
        if let drawnIndex, drawnIndex <= index, drawnIndex + 1 >= max(key, copy) { return .present }
        return copy > key ? .copy(before: copy) : .empty(before: key)
    }

    /// Brings the canvas to the latest state from which the frame can be drawn, and returns the frame to draw first.
    private func prepare(_ canvas: Canvas, for index: Int) -> Int {
        switch origin(of: index) {
        case .present: return (drawnIndex ?? -1) + 1
        case .empty(let first):
            keepCopies(after: index - first)
            canvas.content.clear()
            drawnIndex = nil
            return first
        case .copy(let first):
            keepCopies(after: index - first)
            if let pixels = copies[first] { canvas.content.restore(pixels) }
            drawnIndex = nil
            return first
        }
    }

    private func keepCopies(after replayedFrameCount: Int) {
        if replayedFrameCount > Self.replayLimit { keepsCopies = true }
    }

    /// Returns `true` if a frame can be drawn on an empty canvas; otherwise, `false`.
    private func isIndependent(_ index: Int) -> Bool {
        guard index > 0 else { return true }
        let previous = frames[index - 1]
        let size = structure.size
        return frames[index].replacesCanvas(of: size)
            && (frames[index].disposal != .restorePrevious)
            || (previous.disposal == .clear && previous.area == FrameArea(canvas: size))
    }

    /// Draws a frame; returns `false`, and draws nothing, if it lets the one before through that is not on the canvas.
    private func draw(_ index: Int, on canvas: Canvas, for task: DecodeTask) throws(EideticError) -> Bool {
        try task.checkpoint()
        let frame = frames[index]
        let pixels = frame.area == nil ? nil : try structure.decodeFrame(at: index, for: task)
        if index == 0 { hasGapInFirstFrame = pixels.map { $0.alpha != .opaque } ?? true }
        let isNext = drawnIndex == index - 1
        // From here on the previous frame may be disposed of.
        drawnIndex = nil
        // The data of a GIF may end early, which only decoding shows.
        if index > 0, frame.replacesCanvas(of: structure.size), frame.blends, pixels?.alpha != .opaque {
            frames[index].mayBeTransparent = true
            guard isNext else { return false }
        }
        if keepsCopies { try copy(canvas, before: index) }
        if let pixels, let area = frame.area {
            try canvas.content.draw(pixels, at: area, blends: frame.blends, disposal: frame.disposal)
        } else {
            canvas.content.drawNothing()
        }
        drawnIndex = index
        return true
    }

    /// Keeps a copy of the canvas at every frame whose index is a multiple of the distance that the memory allows.
    private func copy(_ canvas: Canvas, before index: Int) throws(EideticError) {
        guard copies[index] == nil, index > 0 else { return }
        let count = maximumCopyBytes / max(1, 4 * structure.size.pixelCount)
        guard count > 0 else { return }
        let distance = max(1, (frames.count + count) / (count + 1))
        guard index.isMultiple(of: distance) else { return }
        // While frames arrive the distance grows.
        copies = copies.filter { $0.key.isMultiple(of: distance) }
        guard copies.count < count else { return }
        copies[index] = try canvas.content.copyForNextFrame()
    }
}

extension Duration {
    /// The playback duration of a frame with this stored duration: as in browsers, 10 ms or less becomes 100 ms.
    ///
    /// Very short durations come from tools that meant "as fast as possible" on slow machines.
    package var clampedForPlayback: Duration { self < .milliseconds(11) ? .milliseconds(100) : self }
}
