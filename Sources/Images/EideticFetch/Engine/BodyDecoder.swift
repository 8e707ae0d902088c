import CInflate
package import EideticHTTP

/// A decoder of one body's content codings, which works in steps of bounded size.
///
/// Each coding has a decoder, which passes its bytes to that of the coding applied before.
///
/// It is used on one thread only.
package final class BodyDecoder {
    /// A content coding that can be decoded.
    package enum Coding: String {
        case gzip, deflate, zstd
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
            case .zstd: EIDETIC_INFLATE_ZSTD
            }
        }

        /// Codings that are registered, but not decoded here.
        private static let others: Set = ["br", "compress", "x-compress", "dcb", "dcz", "exi", "pack200-gzip"]

        /// The codings of a list of names, in the order of their application.
        ///
        /// A name that is not registered is no coding of the body, but that of a character set or of anything else, and
        /// is ignored, as in Firefox.
        /// - Returns: The codings; the first name that is registered, but not supported; and a Boolean value indicating
        ///   whether names were ignored, so that the body may have no coding at all.
        static func codings(
            named names: [String]
        ) -> (codings: [Coding], unsupported: String?, isUncertain: Bool) {
            let codings = names.compactMap(Coding.init(name:))
            if codings.count == names.count { return (codings, nil, false) }
            let unknown = names.filter { Coding(name: $0) == nil }
            let hasUnregistered = !unknown.allSatisfy(others.contains)
            return (codings, hasUnregistered ? nil : unknown.first, hasUnregistered)
        }

        /// Returns whether bytes begin with the signature of this coding; `false` for a coding without one.
        package func isSigned(in bytes: UnsafeRawBufferPointer) -> Bool {
            switch self {
            case .gzip: bytes.starts(with: [0x1f, 0x8b])
            case .zstd: bytes.starts(with: [0x28, 0xb5, 0x2f, 0xfd])
            case .deflate, .brotli: false
            }
        }

        /// The codings that requests accept by default.
        static let accepted = eidetic_inflate_supports(EIDETIC_INFLATE_BROTLI) != 0 ? "gzip, br, zstd" : "gzip, zstd"
    }

    /// The largest number of bytes that a step decodes.
    package static let outputSize = 65_536

    /// The largest number of codings of a body, as in libcurl.
    static let maximumCodings = 5

    /// The codings of a body with these header fields, none if one of them cannot be decoded; and a Boolean value
    /// indicating whether a body that does not begin like the last one has none.
    package static func codings(of headers: HTTPHeaders) -> (codings: [Coding], isUncertain: Bool) {
        var head = ResponseHead()
        head.headers = headers
        let names = head.contentCodings
        let known = Coding.codings(named: names)
        let isKnown = names.count <= maximumCodings && known.unsupported == nil
        return isKnown ? (known.codings, known.isUncertain) : ([], false)
    }

    package let coding: Coding
    /// The number of encoded bytes received.
    private(set) var receivedBytes = 0
    /// The largest number of bytes that a decoder received.
    var largestReceivedBytes: Int { max(receivedBytes, next?.largestReceivedBytes ?? 0) }
    /// A Boolean value indicating whether all data were decoded; as in browsers, a checksum behind them may be missing.
    package var hasAllData: Bool { eidetic_inflater_has_all_data(inflater) != 0 && next?.hasAllData ?? true }
    /// A Boolean value indicating whether a step may decode more bytes without more input.
    package var hasPendingBytes: Bool { hasOwnPendingBytes || next?.hasPendingBytes ?? false }

    private var isComplete = false
    private var hasOwnPendingBytes = false
    private let next: BodyDecoder?
    private let inflater: OpaquePointer
    private var input: [UInt8] = []
    private var position = 0
    private let output: UnsafeMutablePointer<UInt8>

    /// Creates a decoder for codings in the order of their application; `nil` without one, or without memory.
    package init?(_ codings: [Coding]) {
        guard let coding = codings.last else { return nil }
        next = codings.count > 1 ? BodyDecoder(codings.dropLast()) : nil
        if next == nil, codings.count > 1 { return nil }
        guard let inflater = eidetic_inflater_create(coding.value) else { return nil }
        self.coding = coding
        self.inflater = inflater
        output = .allocate(capacity: Self.outputSize)
    }

    deinit {
        eidetic_inflater_destroy(inflater)
        output.deallocate()
    }

    /// Appends encoded bytes, after all earlier ones have been decoded.
    package func append(_ chunk: UnsafeRawBufferPointer) {
        receivedBytes += chunk.count
        // A gzip file may have several members.
        guard !isComplete || (coding == .gzip && coding.isSigned(in: chunk)) else { return }
        isComplete = false
        input.replaceSubrange(0..<input.count, with: chunk)
        position = 0
        hasOwnPendingBytes = true
    }

    /// Decodes up to `outputSize` bytes.
    ///
    /// - Returns: The bytes, which are valid until the next step, and the number of bytes that the decoders consumed
    ///   and wrote; `nil` if the bytes are not coded in this way, or memory is exhausted.
    package func decodeStep() -> (bytes: UnsafeRawBufferPointer, work: Int)? {
        guard let next else { return ownStep() }
        var work = 0
        if !next.hasPendingBytes {
            guard let step = ownStep() else { return nil }
            work = step.work
            if !step.bytes.isEmpty { next.append(step.bytes) }
            guard next.hasPendingBytes else { return (UnsafeRawBufferPointer(start: nil, count: 0), work) }
        }
        return next.decodeStep().map { ($0.bytes, $0.work + work) }
    }

    private func ownStep() -> (bytes: UnsafeRawBufferPointer, work: Int)? {
        var consumed = 0
        var written = 0
        let status = input.withUnsafeBufferPointer { input in
            let start = input.baseAddress.map { $0 + position }
            let count = input.count - position
            return eidetic_inflater_run(inflater, start, count, &consumed, output, Self.outputSize, &written)
        }
        position += consumed
        guard status != EIDETIC_INFLATE_FAILED, status != EIDETIC_INFLATE_OUT_OF_MEMORY else { return nil }
        isComplete = status == EIDETIC_INFLATE_END
        hasOwnPendingBytes = status == EIDETIC_INFLATE_HAS_OUTPUT
        return (UnsafeRawBufferPointer(start: output, count: written), consumed + written)
    }
}
