import CBitmap
import CPixels
import EideticCore

/// A decoder for the rows of a bitmap.
struct BMPDecoder {
    let header: BMPHeader
    let bytes: UnsafeRawBufferPointer
    let task: DecodeTask
    /// A Boolean value indicating whether rows are missing, which the task accepts.
    private(set) var isPartial = false

    /// Decodes all rows, then calls `finish` with the canvas.
    mutating func decode(
        alpha: PixelBuffer.Alpha,
        finish: (Canvas) throws(EideticError) -> Void = { _ in }
    ) throws(EideticError) -> PixelBuffer {
        try checkPixelData()
        return try PixelBuffer(size: header.size, alpha: alpha) { memory, bytesPerRow throws(EideticError) in
            guard let base = memory.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
            let canvas = Canvas(
                base: base,
                bytesPerRow: bytesPerRow,
                size: header.size,
                isTopDown: header.isTopDown
            )
            switch header.coding {
            case .indexed, .bitFields: try decodeRows(into: canvas)
            case .runLength: try decodeRuns(into: canvas)
            }
            // Rows that have not arrived are black.
            if isPartial, alpha == .opaque { canvas.makeOpaque() }
            try finish(canvas)
        }
    }

    /// Throws an error for a file without pixels before memory is allocated for them.
    private mutating func checkPixelData() throws(EideticError) {
        guard bytes.count > header.pixelOffset else {
            throw EideticError(
                .truncated,
                message: "BMP: the pixels start at byte \(header.pixelOffset) of a file of \(bytes.count) bytes"
            )
        }
        guard header.coding != .runLength else { return }
        let (needed, overflow) = header.bytesPerRow.multipliedReportingOverflow(by: header.size.height)
        let missing = overflow || needed - lastRowPadding > bytes.count - header.pixelOffset
        if missing {
            try acceptTruncation(
                message: "BMP: the file has \(bytes.count - header.pixelOffset) of \(needed) bytes of pixels"
            )
        }
    }

    /// The number of bytes behind the last pixel of a row, which some encoders omit in the last row.
    private var lastRowPadding: Int { header.bytesPerRow - (header.size.width * header.bitsPerPixel + 7) / 8 }

    private mutating func acceptTruncation(message: String) throws(EideticError) {
        guard task.acceptsPartial else { throw EideticError(.truncated, message: message) }
        isPartial = true
    }

    private func decodeRows(into canvas: Canvas) throws(EideticError) {
        let palette = expandedPalette()
        let pixelBytesPerRow = header.bytesPerRow - lastRowPadding
        for index in 0..<header.size.height {
            if index & 63 == 0 { try task.checkpoint() }
            let offset = header.pixelOffset + index * header.bytesPerRow
            guard bytes.count - offset >= pixelBytesPerRow, let source = pointer(at: offset) else {
                canvas.row(at: index).update(repeating: 0, count: canvas.bytesPerRow)
                continue
            }
            convert(source, to: canvas.row(at: index), palette: palette)
        }
    }

    private func convert(_ source: UnsafePointer<UInt8>, to row: UnsafeMutablePointer<UInt8>, palette: [UInt8]) {
        if header.coding == .bitFields {
            eidetic_bitmap_expand_masked(
                row,
                source,
                header.size.width,
                UInt32(header.bitsPerPixel / 8),
                header.channels
            )
        } else {
            eidetic_bitmap_expand_indexed(row, source, header.size.width, UInt32(header.bitsPerPixel), palette)
        }
    }

    private mutating func decodeRuns(into canvas: Canvas) throws(EideticError) {
        let palette = expandedPalette()
        guard let source = pointer(at: 0) else { return }
        var runs = eidetic_bitmap_runs(bytes: source, count: bytes.count, offset: header.pixelOffset, x: 0, y: 0)
        let width = header.size.width
        var result = EIDETIC_RUNS_ROW
        for index in 0..<header.size.height {
            if index & 63 == 0 { try task.checkpoint() }
            // Skipped pixels have the palette's first colour, or are black.
            var indices = [UInt8](repeating: 0, count: header.bitsPerPixel == 24 ? 3 * width : width)
            while result == EIDETIC_RUNS_ROW, runs.y == index {
                result = eidetic_bitmap_decode_runs(&runs, &indices, width, UInt32(header.bitsPerPixel))
                // Many encoders omit the end-of-bitmap code.
                let isLast = index == header.size.height - 1 && runs.x >= width
                guard result == EIDETIC_RUNS_TRUNCATED, !isLast else { continue }
                try acceptTruncation(message: "BMP: the run-length codes end in row \(index) of \(header.size.height)")
            }
            if header.bitsPerPixel == 24 {
                eidetic_bitmap_expand_masked(canvas.row(at: index), indices, width, 3, header.channels)
            } else {
                eidetic_bitmap_expand_indexed(canvas.row(at: index), indices, width, 8, palette)
            }
        }
    }

    var colourSpace: ColourSpace? { header.profile.map { .profile(Array(bytes[$0])) } }

    /// Returns 256 colours; those beyond the file's palette are black.
    func expandedPalette() -> [UInt8] {
        var colors = [UInt8](repeating: 0, count: 1_024)
        for index in 0..<256 {
            colors[4 * index + 3] = 255
            let offset = header.palette.offset + index * header.palette.stride
            guard index < header.palette.count, offset + 3 <= bytes.count else { continue }
            for channel in 0..<3 { colors[4 * index + channel] = bytes[offset + 2 - channel] }
        }
        return colors
    }

    /// Returns the address of the byte at `offset` of the file.
    func pointer(at offset: Int) -> UnsafePointer<UInt8>? {
        guard offset < bytes.count else { return nil }
        return bytes.baseAddress.map { $0.assumingMemoryBound(to: UInt8.self) + offset }
    }

    /// The pixels of an image that is being decoded.
    struct Canvas {
        let base: UnsafeMutablePointer<UInt8>
        let bytesPerRow: Int
        let size: PixelSize
        let isTopDown: Bool

        /// Returns the destination of the stored row `index`.
        func row(at index: Int) -> UnsafeMutablePointer<UInt8> {
            base + (isTopDown ? index : size.height - 1 - index) * bytesPerRow
        }

        /// A Boolean value indicating whether the alpha of all pixels is 0.
        var isTransparent: Bool {
            (0..<size.height).allSatisfy { eidetic_bitmap_is_transparent(row(at: $0), size.width) }
        }

        /// Sets the alpha of all pixels to 255.
        func makeOpaque() { for index in 0..<size.height { eidetic_pixels_make_opaque(row(at: index), size.width) } }
    }
}
