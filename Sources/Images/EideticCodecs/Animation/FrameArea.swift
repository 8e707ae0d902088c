import EideticCore

/// The rectangle of an animation's canvas that one frame covers.
struct FrameArea: Equatable {
    var x: Int
    var y: Int
    var size: PixelSize

    init(x: Int, y: Int, size: PixelSize) {
        self.x = x
        self.y = y
        self.size = size
    }

    /// Creates the area of the whole canvas.
    init(canvas: PixelSize) { self.init(x: 0, y: 0, size: canvas) }

    /// Returns `true` if the area has at least one pixel and none outside the canvas; otherwise, `false`.
    func isContained(in canvas: PixelSize) -> Bool {
        size.isPositive && x >= 0 && y >= 0 && x <= canvas.width - size.width && y <= canvas.height - size.height
    }
}

extension FrameArea {
    /// Returns the part of the area on the canvas; `nil` if none is.
    func clipped(to canvas: PixelSize) -> FrameArea? {
        let right = min(x + size.width, canvas.width)
        let bottom = min(y + size.height, canvas.height)
        guard x < right, y < bottom else { return nil }
        return FrameArea(x: x, y: y, size: PixelSize(width: right - x, height: bottom - y))
    }
}

/// The disposal of a frame's area before the next frame is drawn.
///
/// The raw values are those of APNG.
enum FrameDisposal: Int {
    case leaveInPlace
    /// The area becomes transparent.
    case clear
    /// The area becomes as it was before the frame.
    case restorePrevious
}
