/// The process in which images are decoded.
///
/// By default images from a network, and every SVG, are decoded in the sandbox:
///
/// ```swift
/// var configuration = ImagePipeline.Configuration.standard
/// configuration.decodePolicy = .sandboxed  // all images
/// ```
///
/// An untrusted image may exploit a bug in the library that decodes it. In the sandbox the library runs in a process
/// without access to files or the network, which cannot start programs, and whose memory and time are limited. If that
/// process crashes or hangs, the load of this one image fails with `decoderFailed` or `limitExceeded`.
///
/// In the application's process the libraries of SVG, HEIC, AVIF and JPEG XL cannot be interrupted: the time limit is
/// checked only after they return, and a crash in librsvg ends the application.
///
/// Codecs and transforms of the application (`ImageCodecPlugin`, `ImageTransform`) run in its own process under every
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

    /// The process that fits the origin of the image; the default.
    ///
    /// Images from a network, and SVG from anywhere, are decoded in the sandbox. Other files, `data:` URLs, and bytes
    /// and functions of the application are decoded in the application's process.
    ///
    /// If there is no program for the sandbox, JPEG, PNG, GIF, WebP, TIFF, BMP and ICO from a network are decoded in
    /// the application's process, which log, trace and statistics report; SVG, HEIC, AVIF and JPEG XL fail with
    /// `sandboxUnavailable`. If the program exists but cannot be started at the moment, every image fails with this
    /// error.
    ///
    /// With `avoidDecode` the header of a BMP, GIF, ICO, JPEG or PNG is read in the application's process, without a
    /// library.
    ///
    /// Images that an ``ImageCache`` reads from disk are treated as from a network, because their origin is not
    /// recorded.
    public static let automatic = DecodePolicy(kind: .automatic)

    /// The process of the application.
    public static let inProcess = DecodePolicy(kind: .inProcess)

    /// A process in the sandbox; if none can be started, loads fail with `sandboxUnavailable`.
    public static let sandboxed = DecodePolicy(kind: .sandboxed)

    /// A process in the sandbox; if none can be started, the application's process, for all formats.
    ///
    /// The first image that is decoded without the sandbox causes a warning in the log; the trace of each load states
    /// it, and ``PipelineStatistics`` counts them.
    public static let sandboxedIfAvailable = DecodePolicy(kind: .sandboxedIfAvailable)

    /// The name of the policy.
    public var description: String {
        switch kind {
        case .automaticLocal, .automaticRemote: Kind.automatic.rawValue
        default: kind.rawValue
        }
    }
}
