import CPixels
import EideticCore

/// A copy of a canvas between two frames.
final class CanvasCopy {
    private let buffer: ScratchBuffer

    init(of memory: UnsafeRawBufferPointer) throws(EideticError) {
        buffer = try ScratchBuffer(byteCount: memory.count)
        buffer.bytes.copyMemory(from: memory)
    }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(buffer.bytes) }
}

/// The canvas on which the frames of an animation are composed in order.
///
/// Transparent at first.
struct AnimationCanvas: ~Copyable {
    private let size: PixelSize
    private let stride: Int
    private let buffer: ScratchBuffer
    private var savedPixels: ScratchBuffer?
    private var previousFrame: (area: FrameArea, disposal: FrameDisposal)?
    private var isEmpty = true

    init(size: PixelSize) throws(EideticError) {
        self.size = size
        stride = size.width * 4
        buffer = try ScratchBuffer(byteCount: size.pixelCount * 4)
        clear()
    }

    /// Makes the canvas transparent, as before the first frame.
    mutating func clear() {
        memory.initializeMemory(as: UInt8.self, repeating: 0)
        forgetFrames(isEmpty: true)
    }

    /// Returns a copy of the canvas as the next frame finds it, after the disposal of the previous frame.
    mutating func copyForNextFrame() throws(EideticError) -> CanvasCopy {
        disposeOfPreviousFrame()
        return try CanvasCopy(of: UnsafeRawBufferPointer(memory))
    }

    mutating func restore(_ copy: CanvasCopy) {
        memory.copyMemory(from: copy.bytes)
        forgetFrames(isEmpty: false)
    }

    private mutating func forgetFrames(isEmpty: Bool) {
        previousFrame = nil
        savedPixels = nil
        self.isEmpty = isEmpty
    }

    private var memory: UnsafeMutableRawBufferPointer { buffer.bytes }

    /// Disposes of the previous frame, then draws `pixels` (not premultiplied) at `area`, which must lie on the canvas.
    mutating func draw(
        _ pixels: PixelBuffer,
        at area: FrameArea,
        blends: Bool,
        disposal: FrameDisposal
    ) throws(EideticError) {
        precondition(area.isContained(in: size) && pixels.size == area.size && pixels.alpha != .premultiplied)
        disposeOfPreviousFrame()
        // Before the first frame there is nothing to restore.
        let disposal = disposal == .restorePrevious && isEmpty ? .clear : disposal
        isEmpty = false
        if disposal == .restorePrevious { try savePixels() }
        pixels.withUnsafeBytes { source in
            if blends {
                blend(source, stride: pixels.bytesPerRow, into: area)
            } else {
                copy(source, stride: pixels.bytesPerRow, to: area)
            }
        }
        previousFrame = (area, disposal)
    }

    /// Disposes of the previous frame, for one of which nothing lies on the canvas.
    mutating func drawNothing() { disposeOfPreviousFrame() }

    /// Returns a copy of the canvas, scaled down to the task's target size.
    func snapshot(for task: DecodeTask, hasAlpha: Bool) throws(EideticError) -> PixelBuffer {
        let all = UnsafeRawBufferPointer(memory)
        let premultiplies = task.mayPremultiply && task.targetSize == size
        let alpha: PixelBuffer.Alpha = hasAlpha ? (premultiplies ? .premultiplied : .straight) : .opaque
        let pixels = try PixelBuffer(size: size, alpha: alpha) { target, bytesPerRow in
            guard alpha == .premultiplied else { return target.copyMemory(from: all) }
            eidetic_pixels_premultiply(
                all.kernelSource(stride: stride, size: size),
                target.kernelTarget(stride: bytesPerRow)
            )
        }
        return try Resampler.resample(pixels, to: task.targetSize, for: task)
    }

    private mutating func savePixels() throws(EideticError) {
        let saved = try ScratchBuffer(byteCount: size.pixelCount * 4)
        saved.bytes.copyMemory(from: UnsafeRawBufferPointer(memory))
        savedPixels = consume saved
    }

    private func restorePixels() {
        switch savedPixels {
        case .some(let saved): memory.copyMemory(from: UnsafeRawBufferPointer(saved.bytes))
        case .none: break
        }
    }

    private mutating func disposeOfPreviousFrame() {
        defer { previousFrame = nil }
        switch previousFrame?.disposal {
        case .clear: forEachRow { $0.initializeMemory(as: UInt8.self, repeating: 0) }
        case .restorePrevious: restorePixels()
        case .leaveInPlace, nil: break
        }
    }

    private func forEachRow(_ body: (UnsafeMutableRawBufferPointer) -> Void) {
        guard let area = previousFrame?.area else { return }
        for y in area.y..<area.y + area.size.height {
            let start = y * stride + area.x * 4
            body(UnsafeMutableRawBufferPointer(rebasing: memory[start..<start + area.size.width * 4]))
        }
    }

    private func copy(_ source: UnsafeRawBufferPointer, stride sourceStride: Int, to area: FrameArea) {
        for y in 0..<area.size.height {
            let start = (area.y + y) * stride + area.x * 4
            let row = UnsafeMutableRawBufferPointer(rebasing: memory[start..<start + area.size.width * 4])
            row.copyMemory(
                from: UnsafeRawBufferPointer(rebasing: source[y * sourceStride..<y * sourceStride + row.count])
            )
        }
    }

    private func blend(_ source: UnsafeRawBufferPointer, stride sourceStride: Int, into area: FrameArea) {
        let start = area.y * stride + area.x * 4
        let target = UnsafeMutableRawBufferPointer(rebasing: memory[start...])
        eidetic_pixels_blend(
            source.kernelSource(stride: sourceStride, size: area.size),
            target.kernelTarget(stride: stride)
        )
    }
}
