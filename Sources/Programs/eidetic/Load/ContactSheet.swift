import EideticCodecs
import EideticCore

/// An image with a grid of thumbnails.
///
/// Its memory is limited: the more images there are, up to `maximumCount`, the smaller are the thumbnails.
final class ContactSheet: Sendable {
    private static let background = Canvas.Color(236, 236, 239, 255)
    private static let paper = Canvas.Color(255, 255, 255, 255)
    private static let line = Canvas.Color(198, 198, 204, 255)
    private static let ink = Canvas.Color(72, 72, 78, 255)
    private static let missing = Canvas.Color(224, 224, 228, 255)

    /// The largest number of images, with which the sheet has about 16 million pixels.
    static let maximumCount = 20_000

    /// The maximum size of a thumbnail.
    let cellSize: PixelSize

    private let columnCount: Int
    private let gap: Int
    /// The white margin of a thumbnail, with the thin line around it.
    private let margin: Int
    /// The height of a caption below each thumbnail.
    private let captionHeight: Int
    /// The number of pixels for a pixel of the captions' font; 0 without captions.
    private let textScale: Int
    private let canvas: Guarded<Canvas>

    /// Creates an empty sheet for `count` images, with an aspect ratio of about 3:2.
    ///
    /// - Throws: `limitExceeded` for more than `maximumCount` images, whose thumbnails would not be recognisable.
    init(count: Int) throws(EideticError) {
        guard count <= Self.maximumCount else {
            throw EideticError(
                .limitExceeded,
                message: "a contact sheet has at most \(Self.maximumCount) images, and the list has \(count)"
            )
        }
        let count = max(1, count)
        // Thumbnails have an aspect ratio of 4:3; all together have about 8 million pixels.
        let width = min(320, max(24, Int((8e6 / 0.75 / Double(count)).squareRoot())))
        cellSize = PixelSize(width: width, height: width * 3 / 4)
        columnCount = Self.columnCount(for: count)
        gap = max(3, width / 16)
        margin = max(1, width / 64) + 1
        textScale = width < 60 ? 0 : max(1, width / 160)
        captionHeight = textScale * (BitmapFont.height + 2)
        let rows = (count + columnCount - 1) / columnCount
        let size = PixelSize(
            width: gap + columnCount * (cellSize.width + 2 * margin + gap),
            height: gap + rows * (cellSize.height + captionHeight + 2 * margin + gap)
        )
        canvas = Guarded(Canvas(size: size, color: Self.background))
    }

    /// Returns the number of columns near the ideal one that leaves the fewest gaps in the last row.
    private static func columnCount(for count: Int) -> Int {
        let ideal = Int((Double(count) * 1.125).squareRoot().rounded())
        let candidates = max(1, ideal - 1)...min(count, ideal + 1)
        return candidates.min { left, right in
            let (leftGaps, rightGaps) = ((left - count % left) % left, (right - count % right) % right)
            return (leftGaps, abs(left - ideal), -left) < (rightGaps, abs(right - ideal), -right)
        } ?? 1
    }

    /// Draws the image with this index, and its caption.
    func draw(_ pixels: PixelBuffer, at index: Int, caption: String) throws(EideticError) {
        let fittedSize = pixels.size.scaled(to: cellSize, mode: .fit)
        let fittedPixels = fittedSize == pixels.size ? pixels : try Resampler.resample(pixels, to: fittedSize)
        let area = area(of: fittedSize, at: index)
        canvas.withLock { canvas in
            canvas.fill(area.expanded(by: margin), with: Self.line)
            canvas.fill(area.expanded(by: margin - 1), with: Self.paper)
            canvas.draw(fittedPixels, x: area.x, y: area.y)
            draw(caption, at: index, on: &canvas)
        }
    }

    /// Draws a caption in the centre below a cell; one that is too long ends with two dots.
    private func draw(_ caption: String, at index: Int, on canvas: inout Canvas) {
        guard textScale > 0 else { return }
        let cell = area(of: cellSize, at: index)
        let maximumCount = cell.width / (textScale * BitmapFont.advance)
        let text = caption.count > maximumCount ? caption.prefix(maximumCount - 2) + ".." : caption[...]
        let width = text.count * textScale * BitmapFont.advance
        canvas.draw(
            text,
            x: cell.x + (cell.width - width) / 2,
            y: cell.y + cell.height + margin + textScale,
            scale: textScale,
            color: Self.ink
        )
    }

    /// Draws a placeholder for an image that was not loaded, with the reason before its caption.
    func markMissing(at index: Int, caption: String, reason: String) {
        let area = area(of: cellSize, at: index)
        canvas.withLock { canvas in
            draw("\(reason): \(caption)", at: index, on: &canvas)
            canvas.fill(area.expanded(by: margin), with: Self.line)
            canvas.fill(area.expanded(by: margin - 1), with: Self.missing)
            // A cross of thin lines.
            let side = cellSize.height / 3
            for step in 0..<side {
                let top = area.y + cellSize.height / 2 - side / 2 + step
                let left = area.x + cellSize.width / 2 - side / 2
                let thickness = max(1, cellSize.width / 80)
                canvas.fill(.init(x: left + step, y: top, width: thickness, height: thickness), with: Self.line)
                canvas.fill(.init(x: left + side - step, y: top, width: thickness, height: thickness), with: Self.line)
            }
        }
    }

    /// Returns the format of a sheet's file: by its extension, PNG without one; `nil` for one that cannot be written.
    static func format(of file: String) -> ImageFormat? {
        let name = String(file.fileName)
        guard name.dropFirst().contains(".") else { return .png }
        return ImageFormat(fileName: name).flatMap { ImageEncoder.supportedFormats.contains($0) ? $0 : nil }
    }

    func encode(as format: ImageFormat) throws(EideticError) -> [UInt8] {
        let pixels = try canvas.withLock { canvas throws(EideticError) in try canvas.makePixelBuffer() }
        let image = Image(frames: [Image.Frame(pixels: pixels)], format: format, sourceSize: pixels.size)
        return try ImageEncoder.encode(image, as: format)
    }

    /// Returns the area of an image in the centre of its cell.
    private func area(of size: PixelSize, at index: Int) -> Canvas.Area {
        let (row, column) = index.quotientAndRemainder(dividingBy: columnCount)
        let left = gap + column * (cellSize.width + 2 * margin + gap) + margin
        let top = gap + row * (cellSize.height + captionHeight + 2 * margin + gap) + margin
        return Canvas.Area(
            x: left + (cellSize.width - size.width) / 2,
            y: top + (cellSize.height - size.height) / 2,
            width: size.width,
            height: size.height
        )
    }
}
