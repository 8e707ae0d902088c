import EideticCore

/// How many frames a file may have, whatever the limits of a decode.
///
/// A frame takes a dozen bytes of a file, but ten times that in a list of frames, which reading the header makes.
enum FrameCountLimit {
    /// 65,536: three quarters of an hour at 24 frames a second.
    static let maximum = 1 << 16

    /// Refuses what has more frames.
    static func check(_ count: Int, format: ImageFormat) throws(EideticError) {
        guard count > maximum else { return }
        throw EideticError(.limitExceeded, message: "\(format.rawValue): more than \(maximum) frames")
    }
}
