package import EideticCodecs
import EideticCore
package import EideticWire

/// A message to a decoding process; it answers each, except those that bring memory.
package enum HelperRequest: Sendable, Equatable {
    /// The descriptor of the packet is the memory for encoded bytes, of this size, from now on.
    case input(byteCount: Int)
    /// The descriptor of the packet is the memory for small results, of this size, from now on.
    case window(byteCount: Int)
    /// Parse the header of the bytes in the input memory.
    case header(byteCount: Int, isComplete: Bool)
    /// Parse the header and check the limits, before ``decode(_:)``.
    case open(byteCount: Int, options: DecodeOptions, limits: DecodeLimits)
    /// Decode the image that was opened, into memory of this layout: that of the packet's descriptor, or the window.
    case decode(ResultLayout, isInWindow: Bool)

    private enum Kind: UInt8 { case input, window, header, open, decode }
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
        case .open(let byteCount, let options, let limits):
            writer.append(Kind.open.rawValue)
            writer.append(byteCount)
            writer.append(options)
            writer.append(limits)
        case .decode(let layout, let isInWindow):
            writer.append(Kind.decode.rawValue)
            writer.append(layout)
            writer.append(isInWindow)
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
                limits: try DecodeLimits(from: &reader)
            )
        case .decode: self = .decode(try ResultLayout(from: &reader), isInWindow: try reader.boolean())
        }
    }
}
