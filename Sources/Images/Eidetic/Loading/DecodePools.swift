import EideticCodecs
import EideticCore

/// The threads that decode images.
///
/// A format whose library cannot be interrupted has threads of its own, so that an image that keeps them busy does not
/// delay other formats.
struct DecodePools: Sendable {
    /// The pool for all work that can be interrupted.
    let common: WorkPool
    private let ofFormat: [ImageFormat: WorkPool]
    /// The pool for the codecs of users.
    private let plugins: WorkPool
    /// The pool for images that are decoded in the sandbox, whose threads wait for other processes.
    let sandboxed: WorkPool

    /// Creates pools of at most `maximumThreadCount` threads each; no thread starts before the first job.
    init(name: String, maximumThreadCount: Int) {
        common = WorkPool(name: name, maximumThreadCount: maximumThreadCount)
        sandboxed = WorkPool(name: "eidetic sandboxed", maximumThreadCount: maximumThreadCount)
        plugins = WorkPool(name: "eidetic plug-in", maximumThreadCount: maximumThreadCount)
        ofFormat = Dictionary(
            uniqueKeysWithValues: ImageDecoder.uninterruptibleFormats.map { format in
                (format, WorkPool(name: "eidetic \(format)", maximumThreadCount: maximumThreadCount))
            }
        )
    }

    /// Returns the pool that decodes these bytes; a few kilobytes suffice.
    func pool(for bytes: [UInt8], policy: DecodePolicy?) -> WorkPool {
        if let policy, policy.usesSandbox(for: bytes) { return sandboxed }
        guard case .format(let format) = ImageFormat.detect(in: bytes) else { return common }
        return ofFormat[format] ?? (ImageDecoder.isPlugin(format) ? plugins : common)
    }
}
