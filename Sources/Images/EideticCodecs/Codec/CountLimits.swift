import EideticCore

/// A limit on the chunks or blocks of a file, each of which takes time, however small it is.
enum BlockCountLimit {
    /// 2¹⁸ blocks: those of the largest file, 256 MiB, if each has a kilobyte.
    static let maximum = 1 << 18

    /// Throws `limitExceeded` if `count` is more than ``maximum``.
    static func check(_ count: Int, format: ImageFormat) throws(EideticError) {
        guard count > maximum else { return }
        throw EideticError(.limitExceeded, message: "\(format.rawValue): more than \(maximum) chunks")
    }
}

/// A limit on the frames of a file, independent of `DecodeLimits`.
///
/// Even an empty frame costs ten times its dozen bytes in the list of frames, which parsing the header creates.
enum FrameCountLimit {
    /// 65,536 frames, which are 45 minutes at 24 frames per second.
    static let maximum = 1 << 16

    /// Throws `limitExceeded` if `count` is more than ``maximum``.
    static func check(_ count: Int, format: ImageFormat) throws(EideticError) {
        guard count > maximum else { return }
        throw EideticError(.limitExceeded, message: "\(format.rawValue): more than \(maximum) frames")
    }
}
