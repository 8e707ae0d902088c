import EideticCore

/// How many frames a file may have, whatever the limits of a decode.
///
/// A frame takes a dozen bytes of a file, but ten times that in a list of frames, which reading the header makes.
enum FrameCount {
    /// 65,536: three quarters of an hour at 24 frames a second.
    static let most = 1 << 16

    /// Refuses what has more frames.
    static func check(_ count: Int, _ format: ImageFormat) throws(EideticError) {
        guard count > most else { return }
        throw EideticError(.limitExceeded, "\(format.rawValue): more than \(most) frames")
    }
}
