import EideticCore

/// The part of an animation's canvas that one frame covers.
struct FrameArea: Equatable {
    var x: Int
    var y: Int
    var size: PixelSize

    init(x: Int, y: Int, size: PixelSize) {
        self.x = x
        self.y = y
        self.size = size
    }

    /// The whole canvas.
    init(canvas: PixelSize) { self.init(x: 0, y: 0, size: canvas) }

    /// Whether it covers at least one pixel, and none outside the canvas.
    func isContained(in canvas: PixelSize) -> Bool {
        size.isPositive && x >= 0 && y >= 0 && x <= canvas.width - size.width && y <= canvas.height - size.height
    }
}

extension FrameArea {
    /// The part that lies on the canvas; `nil` where none does.
    func clipped(to canvas: PixelSize) -> FrameArea? {
        let right = min(x + size.width, canvas.width), bottom = min(y + size.height, canvas.height)
        guard x < right, y < bottom else { return nil }
        return FrameArea(x: x, y: y, size: PixelSize(width: right - x, height: bottom - y))
    }
}

/// What becomes of a frame's area before the next one is drawn.
///
/// The numbers are APNG's.
enum FrameDisposal: Int {
    /// It stays.
    case leaveInPlace
    /// It becomes transparent.
    case clear
    /// It becomes what it was before the frame.
    case restorePrevious
}
