import CPixels
import EideticCore
import Glibc

/// The picture that an animation's frames are drawn on, one after the other.
///
/// Transparent at first.
struct AnimationCanvas: ~Copyable {
    private let size: PixelSize
    private let stride: Int
    private let memory: UnsafeMutableRawBufferPointer
    private var saved: UnsafeMutableRawBufferPointer?
    private var last: (area: FrameArea, disposal: FrameDisposal)?

    init(size: PixelSize) throws(EideticError) {
        self.size = size
        stride = size.width * 4
        memory = try Self.allocate(size)
        memory.initializeMemory(as: UInt8.self, repeating: 0)
    }

    deinit {
        free(memory.baseAddress)
        free(saved?.baseAddress)
    }

    /// Disposes of the frame before, then draws `pixels` (not premultiplied) at `area`, which must lie on the canvas.
    mutating func draw(
        _ pixels: PixelBuffer,
        at area: FrameArea,
        blends: Bool,
        disposal: FrameDisposal
    ) throws(EideticError) {
        precondition(area.lies(within: size) && pixels.size == area.size && pixels.alpha != .premultiplied)
        disposeOfLast()
        // There is nothing before the first frame to go back to.
        let disposal = disposal == .restore && last == nil ? .clear : disposal
        if disposal == .restore { try save() }
        pixels.withUnsafeBytes { source in
            if blends { blend(source, pixels.bytesPerRow, area) } else { copy(source, pixels.bytesPerRow, area) }
        }
        last = (area, disposal)
    }

    /// The canvas as it is now, shrunk to what the task wants.
    func snapshot(_ task: DecodeTask, hasAlpha: Bool) throws(EideticError) -> PixelBuffer {
        let all = UnsafeRawBufferPointer(memory)
        let pixels = try PixelBuffer(size: size, alpha: hasAlpha ? .straight : .opaque) { target, _ in
            target.copyMemory(from: all)
        }
        return try Resampler.resample(pixels, to: task.wanted)
    }

    private static func allocate(_ size: PixelSize) throws(EideticError) -> UnsafeMutableRawBufferPointer {
        guard let memory = malloc(size.pixelCount * 4) else {
            throw EideticError(.outOfMemory, "no memory for a canvas of \(size) pixels")
        }
        return UnsafeMutableRawBufferPointer(start: memory, count: size.pixelCount * 4)
    }

    private mutating func save() throws(EideticError) {
        if saved == nil { saved = try Self.allocate(size) }
        saved?.copyMemory(from: UnsafeRawBufferPointer(memory))
    }

    private func disposeOfLast() {
        switch last?.disposal {
        case .clear: forEachRow { $0.initializeMemory(as: UInt8.self, repeating: 0) }
        case .restore: saved.map { memory.copyMemory(from: UnsafeRawBufferPointer($0)) }
        case .keep, nil: break
        }
    }

    private func forEachRow(_ body: (UnsafeMutableRawBufferPointer) -> Void) {
        guard let area = last?.area else { return }
        for y in area.y..<area.y + area.size.height {
            let start = y * stride + area.x * 4
            body(UnsafeMutableRawBufferPointer(rebasing: memory[start..<start + area.size.width * 4]))
        }
    }

    private func copy(_ source: UnsafeRawBufferPointer, _ sourceStride: Int, _ area: FrameArea) {
        for y in 0..<area.size.height {
            let start = (area.y + y) * stride + area.x * 4
            let row = UnsafeMutableRawBufferPointer(rebasing: memory[start..<start + area.size.width * 4])
            row.copyMemory(
                from: UnsafeRawBufferPointer(rebasing: source[y * sourceStride..<y * sourceStride + row.count])
            )
        }
    }

    private func blend(_ source: UnsafeRawBufferPointer, _ sourceStride: Int, _ area: FrameArea) {
        let start = area.y * stride + area.x * 4
        eidetic_pixels_blend(
            source.assumingMemoryBound(to: UInt8.self).baseAddress,
            sourceStride,
            memory.assumingMemoryBound(to: UInt8.self).baseAddress.map { $0 + start },
            stride,
            area.size.width,
            area.size.height
        )
    }
}
