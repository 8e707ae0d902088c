import CInflate
import EideticCore

/// A decoder of one body's content coding, which works in steps of bounded size.
///
/// It is used on the engine's thread only.
final class BodyDecoder {
    /// A content coding that can be decoded.
    enum Coding: String {
        case gzip, deflate
        case brotli = "br"

        /// Creates the coding with a name of a `Content-Encoding` field; `nil` if it is not supported.
        init?(name: String) {
            self.init(rawValue: name == "x-gzip" ? "gzip" : name)
            guard eidetic_inflate_supports(value) != 0 else { return nil }
        }

        fileprivate var value: eidetic_inflate_coding {
            switch self {
            case .gzip: EIDETIC_INFLATE_GZIP
            case .deflate: EIDETIC_INFLATE_DEFLATE
            case .brotli: EIDETIC_INFLATE_BROTLI
            }
        }

        /// The codings that requests accept by default.
        static let accepted = eidetic_inflate_supports(EIDETIC_INFLATE_BROTLI) != 0 ? "gzip, br" : "gzip"
    }

    /// The largest number of bytes that a step decodes.
    static let outputSize = 65_536

    let coding: Coding
    /// The number of encoded bytes received.
    private(set) var receivedBytes = 0
    /// A Boolean value indicating whether the end of the encoded bytes was decoded.
    private(set) var isComplete = false
    /// A Boolean value indicating whether a step may decode more bytes without more input.
    private(set) var hasPendingBytes = false

    private let inflater: OpaquePointer
    private var input: [UInt8] = []
    private var position = 0
    private let output = UnsafeMutablePointer<UInt8>.allocate(capacity: outputSize)

    /// Creates a decoder; `nil` without memory.
    init?(_ coding: Coding) {
        guard let inflater = eidetic_inflater_create(coding.value) else { return nil }
        self.coding = coding
        self.inflater = inflater
    }

    deinit {
        eidetic_inflater_destroy(inflater)
        output.deallocate()
    }

    /// Appends encoded bytes, after all earlier ones have been decoded.
    func append(_ chunk: UnsafeRawBufferPointer) {
        receivedBytes += chunk.count
        // A gzip file may have several members.
        guard !isComplete || (coding == .gzip && chunk.starts(with: [0x1f, 0x8b])) else { return }
        isComplete = false
        input.replaceSubrange(0..<input.count, with: chunk)
        position = 0
        hasPendingBytes = true
    }

    /// Decodes up to `outputSize` bytes.
    ///
    /// - Returns: The bytes, which are valid until the next step, and the number of encoded bytes consumed; `nil` if
    ///   the bytes are not coded in this way, or memory is exhausted.
    func decodeStep() -> (bytes: UnsafeRawBufferPointer, consumed: Int)? {
        var consumed = 0, written = 0
        let status = input.withUnsafeBufferPointer { input in
            let start = input.baseAddress.map { $0 + position }
            let count = input.count - position
            return eidetic_inflater_run(inflater, start, count, &consumed, output, Self.outputSize, &written)
        }
        position += consumed
        guard status != EIDETIC_INFLATE_FAILED, status != EIDETIC_INFLATE_OUT_OF_MEMORY else { return nil }
        isComplete = status == EIDETIC_INFLATE_END
        hasPendingBytes = status == EIDETIC_INFLATE_HAS_OUTPUT
        return (UnsafeRawBufferPointer(start: output, count: written), consumed)
    }
}
