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

    /// The largest number of decoders in one message.
    package static let maximumReleaseCount = 1_024
}

extension HelperRequest: WireRecord {
    package static let layout = Layout<Self>(
        Case(0, input) { if case .input(let count) = $0 { count } else { nil } },
        Case(1, window) { if case .window(let count) = $0 { count } else { nil } },
        Case(2, header) { if case .header(let count, let isComplete) = $0 { (count, isComplete) } else { nil } },
        Case(3, open) {
            if case .open(let count, let options, let limits, let memory) = $0 {
                (count, options, limits, memory)
            } else {
                nil
            }
        },
        Case(4, decode) { if case .decode(let layout, let isInWindow) = $0 { (layout, isInWindow) } else { nil } },
        Case(5, keep) {
            if case .keep(let options, let count, let isComplete) = $0 { (options, count, isComplete) } else { nil }
        },
        Case(6, extend) {
            if case .extend(let number, let count, let isComplete) = $0 { (number, count, isComplete) } else { nil }
        },
        Case(7, frame) {
            if case .frame(let number, let index, let layout, let isInWindow) = $0 {
                (number, index, layout, isInWindow)
            } else {
                nil
            }
        },
        Case(8, release, .list(.value, limit: maximumReleaseCount)) {
            if case .release(let numbers) = $0 { numbers } else { nil }
        },
        Case(9, metadata) { if case .metadata(let count, let capacity) = $0 { (count, capacity) } else { nil } }
    )
}
