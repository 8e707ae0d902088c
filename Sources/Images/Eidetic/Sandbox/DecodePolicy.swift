/// The process in which images are decoded.
///
/// By default images from a network are decoded in the sandbox, if its program is installed:
///
/// ```swift
/// var configuration = ImagePipeline.Configuration.standard
/// configuration.decodePolicy = .sandboxed  // all images, and none without the program
/// ```
///
/// A library that decodes an image of a stranger may have a fault that the image makes use of. In the sandbox it runs
/// in a process that has no files, no network and no right to start programs, with limits on memory and time. If that
/// process crashes or hangs, the load of this one image fails with `decoderFailed` or `limitExceeded`.
///
/// Codecs and transforms of the application (`ImageCodecPlugin`, `ImageTransform`) run in its own process under each
/// policy.
///
/// - SeeAlso: ``DecodeSandbox``, which names the program of these processes, and their restrictions.
public struct DecodePolicy: Sendable, Hashable, CustomStringConvertible {
    enum Kind: String { case automatic, inProcess, sandboxed, sandboxedIfAvailable }

    let kind: Kind

    /// The process that the origin of the image asks for; the default.
    ///
    /// It is ``sandboxedIfAvailable`` for images from a network, and ``inProcess`` for files, `data:` URLs, bytes and
    /// functions of the application.
    ///
    /// Images that an ``ImageCache`` has on disk count as from a network: the disk does not tell where they come from.
    public static let automatic = DecodePolicy(kind: .automatic)

    /// The process of the application.
    public static let inProcess = DecodePolicy(kind: .inProcess)

    /// A process in the sandbox; where there is no program for it, loads fail with `sandboxUnavailable`.
    public static let sandboxed = DecodePolicy(kind: .sandboxed)

    /// A process in the sandbox; where there is no program for it, that of the application.
    ///
    /// The first image that is decoded without the sandbox causes a warning in the log; the trace of each load states
    /// it, and ``PipelineStatistics/unsandboxedImages`` counts them.
    public static let sandboxedIfAvailable = DecodePolicy(kind: .sandboxedIfAvailable)

    /// The name of the policy.
    public var description: String { kind.rawValue }
}
