/// The disposal of a frame's area before the next frame is drawn.
///
/// The raw values are those of APNG.
enum FrameDisposal: Int {
    /// The area keeps the frame.
    case leaveInPlace
    /// The area becomes transparent.
    case clear
    /// The area becomes as it was before the frame.
    case restorePrevious
}
