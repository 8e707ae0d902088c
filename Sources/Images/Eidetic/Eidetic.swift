public import EideticCore
public import FoundationEssentials

// `import Eidetic` brings what a program names that shows images. What experts name is one more import away: own
// codecs, encoding options and metadata (`import EideticCodecs`), the network (`import EideticFetch`), and the caches
// (`import EideticStore`). Members of Codecs need none: the limits of `configuration.decodeLimits` are there without
// the name of their type.
@_exported public import struct EideticCodecs.TransformChain
@_exported public import protocol EideticCodecs.ImageTransform
@_exported public import struct EideticCodecs.ImagePlaceholder
@_exported public import class EideticCore.AnimatedImage
@_exported public import struct EideticCore.ByteCount
@_exported public import enum EideticCore.ContentMode
@_exported public import enum EideticCore.CropFocus
@_exported public import struct EideticCore.EideticError
@_exported public import struct EideticCore.Image
@_exported public import struct EideticCore.ImageColor
@_exported public import struct EideticCore.ImageFormat
@_exported public import enum EideticCore.ImageSource
@_exported public import enum EideticCore.LoadPriority
@_exported public import struct EideticCore.LoadProgress
@_exported public import class EideticCore.PixelBuffer
@_exported public import struct EideticCore.PixelRect
@_exported public import struct EideticCore.PixelSize
@_exported public import struct EideticHTTP.HTTPHeaders
public import EideticCore
public import FoundationEssentials

/// A program that imports `Eidetic` and Foundation gets ``EideticError/message`` as `localizedDescription`.
extension EideticError: LocalizedError {
    /// The message.
    public var errorDescription: String? { message }

    /// The remedy for a failure with this code, as `docs/errors.md` lists it.
    public var recoverySuggestion: String? { code.remedy }
}

/// Returns whether an error has a code: `catch EideticError.Code.cancelled { … }`.
///
/// Re-exporting a single type does not export its operators, so `Eidetic` declares this one. With `import EideticCore`
/// that of the type is used.
@_disfavoredOverload
public func ~= (code: EideticError.Code, error: any Error) -> Bool { (error as? EideticError)?.code == code }

extension ImageFormat {
    /// Creates the format of a file from its contents; `nil` if it is not an image of a known format.
    ///
    /// - Parameter bytes: The file, or at least its first 4,096 bytes.
    public init?(of bytes: some ContiguousBytes) {
        guard case .format(let format) = bytes.withUnsafeBytes({ Self.detect(in: $0, isComplete: true) }) else {
            return nil
        }
        self = format
    }
}
