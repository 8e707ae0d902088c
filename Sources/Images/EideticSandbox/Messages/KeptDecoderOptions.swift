package import EideticCodecs
package import EideticCore

/// A decoder that a process keeps between requests, whose encoded bytes grow at their end.
package struct KeptDecoderOptions: Sendable, Equatable {
    /// The images that a decoder makes of the bytes.
    package enum Kind: UInt8, Sendable { case animation, preview }

    package var kind: Kind
    /// The number of the decoder, which no other one of the process has.
    package var number: UInt32
    /// The size of the memory of the encoded bytes.
    package var capacity: Int
    /// The memory for copies of an animation's canvas.
    package var maximumCopyBytes: Int
    package var options: DecodeOptions
    package var limits: DecodeLimits

    package init(
        kind: Kind,
        number: UInt32,
        capacity: Int,
        maximumCopyBytes: Int,
        options: DecodeOptions,
        limits: DecodeLimits
    ) {
        (self.kind, self.number, self.capacity) = (kind, number, capacity)
        (self.maximumCopyBytes, self.options, self.limits) = (maximumCopyBytes, options, limits)
    }
}

extension KeptDecoderOptions: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        writer.append(kind.rawValue)
        writer.append(number)
        writer.append(capacity)
        writer.append(maximumCopyBytes)
        writer.append(options)
        writer.append(limits)
    }

    package init(from reader: inout WireReader) throws(WireError) {
        self.init(
            kind: try reader.enumeration(Kind.self),
            number: try reader.integer(),
            capacity: try reader.integer(),
            maximumCopyBytes: try reader.integer(),
            options: try DecodeOptions(from: &reader),
            limits: try DecodeLimits(from: &reader)
        )
    }
}
