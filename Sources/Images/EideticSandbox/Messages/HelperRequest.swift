package import EideticCodecs
package import EideticCore

/// A message to a decoding process; it answers each, except those that bring memory.
package enum HelperRequest: Sendable, Equatable {
    /// The descriptor of the packet is the memory for encoded bytes, of this size, from now on.
    case input(byteCount: Int)
    /// The descriptor of the packet is the memory for small results, of this size, from now on.
    case window(byteCount: Int)
    /// Parse the header of the bytes in the input memory.
    case header(byteCount: Int, isComplete: Bool)
    /// Parse the header and check the limits, before ``decode(_:isInWindow:)``.
    ///
    /// A still image whose result fits into the window is decoded at once, if that needs at most `immediateMemory`
    /// bytes.
    case open(byteCount: Int, options: DecodeOptions, limits: DecodeLimits, immediateMemory: Int)
    /// Decode the image that was opened, into memory of this layout: that of the packet's descriptor, or the window.
    case decode(ResultLayout, isInWindow: Bool)

    /// Keep a decoder of the bytes in the memory of the packet's descriptor, and of those that follow there.
    case keep(KeptDecoderOptions, byteCount: Int, isComplete: Bool)
    /// Parse the bytes of a kept decoder that have arrived since.
    case extend(UInt32, byteCount: Int, isComplete: Bool)
    /// Decode a frame, or the next preview, by a kept decoder.
    case frame(UInt32, index: Int, ResultLayout, isInWindow: Bool)
    /// Release kept decoders.
    case release([UInt32])
    /// Read the metadata of the bytes in the input memory into the memory of the packet's descriptor, of this capacity.
    case metadata(byteCount: Int, capacity: Int)

    private enum Kind: UInt8 { case input, window, header, open, decode, keep, extend, frame, release, metadata }

    /// The largest number of decoders in one message.
    package static let maximumReleaseCount = 1_024
}

extension HelperRequest: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        switch self {
        case .input(let byteCount):
            writer.append(Kind.input.rawValue)
            writer.append(byteCount)
        case .window(let byteCount):
            writer.append(Kind.window.rawValue)
            writer.append(byteCount)
        case .header(let byteCount, let isComplete):
            writer.append(Kind.header.rawValue)
            writer.append(byteCount)
            writer.append(isComplete)
        case .open(let byteCount, let options, let limits, let immediateMemory):
            writer.append(Kind.open.rawValue)
            writer.append(byteCount)
            writer.append(options)
            writer.append(limits)
            writer.append(immediateMemory)
        case .decode(let layout, let isInWindow):
            writer.append(Kind.decode.rawValue)
            writer.append(layout)
            writer.append(isInWindow)
        case .keep(let options, let byteCount, let isComplete):
            writer.append(Kind.keep.rawValue)
            writer.append(options)
            writer.append(byteCount)
            writer.append(isComplete)
        case .extend(let number, let byteCount, let isComplete):
            writer.append(Kind.extend.rawValue)
            writer.append(number)
            writer.append(byteCount)
            writer.append(isComplete)
        case .frame(let number, let index, let layout, let isInWindow):
            writer.append(Kind.frame.rawValue)
            writer.append(number)
            writer.append(index)
            writer.append(layout)
            writer.append(isInWindow)
        case .release(let numbers):
            writer.append(Kind.release.rawValue)
            writer.append(list: numbers) { $0.append($1) }
        case .metadata(let byteCount, let capacity):
            writer.append(Kind.metadata.rawValue)
            writer.append(byteCount)
            writer.append(capacity)
        }
    }

    package init(from reader: inout WireReader) throws(WireError) {
        switch try reader.enumeration(Kind.self) {
        case .input: self = .input(byteCount: try reader.integer())
        case .window: self = .window(byteCount: try reader.integer())
        case .header: self = .header(byteCount: try reader.integer(), isComplete: try reader.boolean())
        case .open:
            self = .open(
                byteCount: try reader.integer(),
                options: try DecodeOptions(from: &reader),
                limits: try DecodeLimits(from: &reader),
                immediateMemory: try reader.integer()
            )
        case .decode: self = .decode(try ResultLayout(from: &reader), isInWindow: try reader.boolean())
        case .keep:
            self = .keep(
                try KeptDecoderOptions(from: &reader),
                byteCount: try reader.integer(),
                isComplete: try reader.boolean()
            )
        case .extend:
            self = .extend(
                try reader.integer(),
                byteCount: try reader.integer(),
                isComplete: try reader.boolean()
            )
        case .frame:
            self = .frame(
                try reader.integer(),
                index: try reader.integer(),
                try ResultLayout(from: &reader),
                isInWindow: try reader.boolean()
            )
        case .release:
            self = .release(
                try reader.list(limit: Self.maximumReleaseCount) { reader throws(WireError) in try reader.integer() }
            )
        case .metadata: self = .metadata(byteCount: try reader.integer(), capacity: try reader.integer())
        }
    }
}
