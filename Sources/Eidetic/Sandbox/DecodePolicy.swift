/// The process in which images are decoded.
///
/// ```swift
/// var configuration = ImagePipeline.Configuration.standard
/// configuration.decodePolicy = .sandboxed
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
    enum Kind: String { case inProcess, sandboxed, sandboxedIfAvailable }

    let kind: Kind

    /// The process of the application.
    public static let inProcess = DecodePolicy(kind: .inProcess)

    /// A process in the sandbox; where there is no program for it, loads fail with `sandboxUnavailable`.
    public static let sandboxed = DecodePolicy(kind: .sandboxed)

    /// A process in the sandbox; where there is no program for it, that of the application.
    ///
    /// The first image that is decoded without the sandbox causes a warning in the log, and the trace of each load
    /// states it.
    public static let sandboxedIfAvailable = DecodePolicy(kind: .sandboxedIfAvailable)

    /// The name of the policy.
    public var description: String { kind.rawValue }
}
