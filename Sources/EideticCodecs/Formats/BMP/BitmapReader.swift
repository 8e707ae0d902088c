import CBitmap
import EideticCore

/// Decodes the rows of a bitmap.
struct BitmapReader {
    let header: BitmapHeader
    let bytes: UnsafeRawBufferPointer
    let task: DecodeTask
    /// Whether rows were missing, and the task accepted that.
    private(set) var isPartial = false

    init(header: BitmapHeader, bytes: UnsafeRawBufferPointer, task: DecodeTask) {
        self.header = header
        self.bytes = bytes
        self.task = task
    }

    /// The pixels of a picture under construction.
    struct Canvas {
        let base: UnsafeMutablePointer<UInt8>
        let bytesPerRow: Int
        let size: PixelSize
        let isTopDown: Bool

        /// The row that is stored as number `index`.
        func row(_ index: Int) -> UnsafeMutablePointer<UInt8> {
            base + (isTopDown ? index : size.height - 1 - index) * bytesPerRow
        }

        /// Whether all alpha is 0.
        var isClear: Bool { (0..<size.height).allSatisfy { eidetic_bitmap_is_clear(row($0), size.width) } }

        /// Sets all alpha to 255.
        func makeOpaque() { for index in 0..<size.height { eidetic_bitmap_opaque(row(index), size.width) } }
    }

    /// Decodes all rows, and lets `finish` change them.
    mutating func read(
        alpha: PixelBuffer.Alpha,
        finish: (Canvas) throws(EideticError) -> Void = { _ in }
    ) throws(EideticError) -> PixelBuffer {
        try requireRows()
        return try PixelBuffer(size: header.size, alpha: alpha) { memory, bytesPerRow throws(EideticError) in
            guard let base = memory.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
            let canvas = Canvas(
                base: base,
                bytesPerRow: bytesPerRow,
                size: header.size,
                isTopDown: header.isTopDown
            )
            switch header.coding {
            case .indexed, .fields: try readRows(canvas)
            case .runs: try readRuns(canvas)
            }
            try finish(canvas)
        }
    }

    /// Refuses a file without pixels before memory is taken for them.
    private mutating func requireRows() throws(EideticError) {
        guard bytes.count > header.pixels else {
            throw EideticError(.truncated, "the bitmap's pixels begin at byte \(header.pixels) of \(bytes.count)")
        }
        guard header.coding != .runs else { return }
        let (needed, overflow) = header.bytesPerRow.multipliedReportingOverflow(by: header.size.height)
        let missing = overflow || needed - paddingOfLastRow > bytes.count - header.pixels
        if missing { try acceptMissing("the bitmap has \(bytes.count - header.pixels) of \(needed) bytes of pixels") }
    }

    /// The bytes behind the last pixel, which some writers leave out.
    private var paddingOfLastRow: Int { header.bytesPerRow - (header.size.width * header.bits + 7) / 8 }

    private mutating func acceptMissing(_ message: String) throws(EideticError) {
        guard task.acceptsPartial else { throw EideticError(.truncated, message) }
        isPartial = true
    }

    private func readRows(_ canvas: Canvas) throws(EideticError) {
        let palette = palette()
        let used = header.bytesPerRow - paddingOfLastRow
        for index in 0..<header.size.height {
            if index & 63 == 0 { try task.checkpoint() }
            let offset = header.pixels + index * header.bytesPerRow
            guard bytes.count - offset >= used, let source = pointer(offset) else {
                canvas.row(index).update(repeating: 0, count: canvas.bytesPerRow)
                continue
            }
            convert(source, to: canvas.row(index), palette)
        }
    }

    private func convert(_ source: UnsafePointer<UInt8>, to row: UnsafeMutablePointer<UInt8>, _ palette: [UInt8]) {
        if header.coding == .fields {
            eidetic_bitmap_fields(row, source, header.size.width, UInt32(header.bits / 8), header.channels)
        } else {
            eidetic_bitmap_indexed(row, source, header.size.width, UInt32(header.bits), palette)
        }
    }

    private mutating func readRuns(_ canvas: Canvas) throws(EideticError) {
        let palette = palette()
        guard let source = pointer(0) else { return }
        var runs = eidetic_bitmap_runs(bytes: source, count: bytes.count, offset: header.pixels, x: 0, y: 0)
        let width = header.size.width
        var result = EIDETIC_RUNS_ROW
        for index in 0..<header.size.height {
            if index & 63 == 0 { try task.checkpoint() }
            // What the codes skip has the palette's first colour.
            var indices = [UInt8](repeating: 0, count: width)
            while result == EIDETIC_RUNS_ROW, runs.y == index {
                result = eidetic_bitmap_run_row(&runs, &indices, width, UInt32(header.bits))
                // The code for the end is often missing behind the last pixel.
                let isLast = index == header.size.height - 1 && runs.x >= width
                guard result == EIDETIC_RUNS_TRUNCATED, !isLast else { continue }
                try acceptMissing("the bitmap's runs end in row \(index) of \(header.size.height)")
            }
            eidetic_bitmap_indexed(canvas.row(index), indices, width, 8, palette)
        }
    }

    /// 256 colours; those that the file does not have are black.
    private func palette() -> [UInt8] {
        var colors = [UInt8](repeating: 0, count: 1_024)
        for index in 0..<256 {
            colors[4 * index + 3] = 255
            let offset = header.palette.offset + index * header.palette.stride
            guard index < header.palette.count, offset + 3 <= bytes.count else { continue }
            for channel in 0..<3 { colors[4 * index + channel] = bytes[offset + 2 - channel] }
        }
        return colors
    }

    /// The address of a byte of the file.
    func pointer(_ offset: Int) -> UnsafePointer<UInt8>? {
        guard offset < bytes.count else { return nil }
        return bytes.baseAddress.map { $0.assumingMemoryBound(to: UInt8.self) + offset }
    }
}
