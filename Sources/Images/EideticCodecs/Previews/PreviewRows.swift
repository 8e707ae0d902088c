import CPixels
import EideticCore
import Glibc

/// The rows of an incomplete image; missing rows are transparent.
final class PreviewRows {
    let size: PixelSize
    private let memory: ScratchBuffer
    private let spares: SparePixels

    init(size: PixelSize) throws(EideticError) {
        self.size = size
        memory = try ScratchBuffer(clearedByteCount: 4 * size.pixelCount)
        spares = SparePixels(byteCount: 4 * size.pixelCount)
    }

    deinit { spares.close() }

    var bytesPerRow: Int { 4 * size.width }

    var bytes: UnsafeMutableRawBufferPointer { memory.bytes }

    var base: UnsafeMutablePointer<UInt8>? { memory.bytes.bytePointer }

    /// Returns a copy of the first `rowCount` rows, which no longer change, above transparent rows.
    ///
    /// Rows that stand in the memory of a released preview are not copied again.
    func snapshot(
        rowCount: Int,
        alpha: PixelBuffer.Alpha,
        makesOpaque: Bool = false
    ) throws(EideticError) -> PixelBuffer {
        var spare = try takeSpare()
        if spare.rowCount == nil { memset(spare.block.memory, 0, memory.bytes.count) }
        let copied = spare.rowCount ?? 0
        if copied < rowCount {
            let range = copied * bytesPerRow..<rowCount * bytesPerRow
            let rows = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(memory.bytes)[range])
            let target = UnsafeMutableRawBufferPointer(start: spare.block.memory + range.lowerBound, count: rows.count)
            target.copyMemory(from: rows)
            if makesOpaque { eidetic_pixels_make_opaque(target.bytePointer, rows.count / 4) }
        }
        spare.rowCount = max(copied, rowCount)
        return makePixels(in: spare, alpha: alpha)
    }

    /// Returns a copy of rows that may all change again, with premultiplied colours clamped to alpha.
    func snapshot(alpha: PixelBuffer.Alpha) throws(EideticError) -> PixelBuffer {
        try fill(alpha: alpha) { target throws(EideticError) in
            let target = UnsafeMutableRawBufferPointer(start: target, count: memory.bytes.count)
            target.copyMemory(from: UnsafeRawBufferPointer(memory.bytes))
            target.clampColours(for: alpha)
        }
    }

    /// Returns pixels all of which `body` writes.
    func fill(
        alpha: PixelBuffer.Alpha,
        body: (UnsafeMutablePointer<UInt8>) throws(EideticError) -> Void
    ) throws(EideticError) -> PixelBuffer {
        var spare = try takeSpare()
        spare.rowCount = nil
        do throws(EideticError) {
            try body(spare.block.memory.assumingMemoryBound(to: UInt8.self))
        } catch {
            spares.give(spare)
            throw error
        }
        return makePixels(in: spare, alpha: alpha)
    }

    private func takeSpare() throws(EideticError) -> SparePixels.Spare {
        if let spare = spares.take() { return spare }
        guard let block = PixelMemory.allocateCleared(byteCount: memory.bytes.count) else {
            throw EideticError(.outOfMemory, message: "not enough memory for an image of \(size) pixels")
        }
        return SparePixels.Spare(block: block)
    }

    private func makePixels(in spare: SparePixels.Spare, alpha: PixelBuffer.Alpha) -> PixelBuffer {
        PixelBuffer(adopting: spare.block.memory, size: size, bytesPerRow: bytesPerRow, alpha: alpha) { [spares] in
            spares.give(spare)
        }
    }
}
