package import EideticCodecs
package import EideticCore

/// A decoder that a process keeps between requests, whose encoded bytes grow at their end.
package struct KeptDecoderOptions: Sendable, Equatable {
    /// The images that a decoder makes of the bytes.
    package enum Kind: UInt8, WireValue { case animation, preview }

    package var kind: Kind
    /// The number of the decoder, which no other one of the process has.
    package var number: UInt32
    /// The size of the memory of the encoded bytes.
    package var capacity: Int
    /// The memory for copies of an animation's canvas.
    package var maximumCopyBytes: Int
    package var options: DecodeOptions
    package var limits: DecodeLimits
}

extension KeptDecoderOptions: WireRecord {
    package static let layout = Layout(Self.init, \.kind, \.number, \.capacity, \.maximumCopyBytes, \.options, \.limits)
}
