/// The process in which images are decoded.
///
/// By default images from a network, and every SVG, are decoded in the sandbox:
///
/// ```swift
/// var configuration = ImagePipeline.Configuration.standard
/// configuration.decodePolicy = .sandboxed  // all images
/// ```
///
/// A library that decodes an image of a stranger may have a fault that the image makes use of. In the sandbox it runs
/// in a process that has no files, no network and no right to start programs, with limits on memory and time. If that
/// process crashes or hangs, the load of this one image fails with `decoderFailed` or `limitExceeded`.
///
/// In the application's process the libraries of SVG, HEIC, AVIF and JPEG XL cannot be interrupted: the limit on time
/// is checked once they return, and a fault of librsvg ends the application.
///
/// Codecs and transforms of the application (`ImageCodecPlugin`, `ImageTransform`) run in its own process under each
/// policy.
///
/// - SeeAlso: ``DecodeSandbox``, which names the program of these processes, and their restrictions.
public struct DecodePolicy: Sendable, Hashable, CustomStringConvertible {
    enum Kind: String {
        case automatic, inProcess, sandboxed, sandboxedIfAvailable
        /// ``automatic`` for an image of the application, and for one from a network.
        case automaticLocal, automaticRemote
    }

    let kind: Kind

    /// The process that the origin of the image asks for; the default.
    ///
    /// Images from a network, and SVG from anywhere, are decoded in the sandbox; other files, `data:` URLs, bytes and
    /// functions of the application in its own process. Where no program can be started for the sandbox, JPEG, PNG,
    /// GIF, WebP, TIFF, BMP and ICO from a network are decoded in the application's process, too, which log, trace and
    /// statistics state; SVG, HEIC, AVIF and JPEG XL fail with `sandboxUnavailable`. A process that could not be
    /// started for now is no such reason: every image then fails with this error.
    ///
    /// With `avoidDecode` the header of a BMP, GIF, ICO, JPEG or PNG is read in the application's process, without a
    /// library.
    ///
    /// Images that an ``ImageCache`` has on disk count as from a network: the disk does not tell where they come from.
    public static let automatic = DecodePolicy(kind: .automatic)

    /// The process of the application.
    public static let inProcess = DecodePolicy(kind: .inProcess)

    /// A process in the sandbox; where none can be started, loads fail with `sandboxUnavailable`.
    public static let sandboxed = DecodePolicy(kind: .sandboxed)

    /// A process in the sandbox; where none can be started, that of the application, for all formats.
    ///
    /// The first image that is decoded without the sandbox causes a warning in the log; the trace of each load states
    /// it, and ``PipelineStatistics/unsandboxedImages`` counts them.
    public static let sandboxedIfAvailable = DecodePolicy(kind: .sandboxedIfAvailable)

    /// The name of the policy.
    public var description: String {
        switch kind {
        case .automaticLocal, .automaticRemote: Kind.automatic.rawValue
        default: kind.rawValue
        }
    }
}
