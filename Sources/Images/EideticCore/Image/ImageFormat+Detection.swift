extension ImageFormat {
    /// The result of looking at the first bytes of a file.
    package enum Detection: Sendable, Hashable {
        /// The bytes are the beginning of an image of this format.
        case format(ImageFormat)
        /// The format cannot be determined yet; at most 4,096 bytes are necessary, except for SVG with a long prologue.
        case needsMoreBytes
        /// The bytes are not the beginning of an image of a known format.
        case unknown
    }

    /// The largest number of bytes that detection needs, except for SVG with a long prologue.
    package static let maximumSignatureLength = 4_096

    /// Detects a format by its content, never by a name.
    ///
    /// The formats of this package come before those of users.
    ///
    /// - Parameters:
    ///   - bytes: The first bytes of the file or stream.
    ///   - isComplete: `true` if no more bytes follow. The result is then never `needsMoreBytes`.
    /// - Returns: The format, or the reason why it is not known.
    /// - Complexity: O(1), except for text that may be SVG.
    package static func detect(in bytes: UnsafeRawBufferPointer, isComplete: Bool = false) -> Detection {
        let signature = ImageSignature(bytes: bytes)
        if let format = signature.format { return .format(format) }
        switch OwnSignatures.detect(in: bytes) {
        case .format(let format): return .format(format)
        case .needsMoreBytes: if !isComplete { return .needsMoreBytes }
        case .unknown: break
        }
        return signature.needsMoreBytes && !isComplete ? .needsMoreBytes : .unknown
    }

    /// Detects a format by its content.
    package static func detect(in bytes: [UInt8], isComplete: Bool = false) -> Detection {
        bytes.withUnsafeBytes { detect(in: $0, isComplete: isComplete) }
    }
}
