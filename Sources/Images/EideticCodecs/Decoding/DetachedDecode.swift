import EideticCore
import Glibc

/// A decode by a library that cannot be interrupted, in two calls: one parses the header, one decodes.
///
/// Owns a copy of the encoded bytes, because a call may outlive its caller.
///
/// Unchecked, because its two calls follow one another, so only one thread at a time uses it.
final class DetachedDecode: @unchecked Sendable {
    private let bytes: ScratchBuffer
    private var plan: DecodePlan?
    private(set) var workingMemory = 0

    private init(copying source: [UInt8]) throws(EideticError) {
        bytes = try ScratchBuffer(byteCount: source.count)
        bytes.bytes.copyBytes(from: source)
    }

    /// Decodes an image by `calls`.
    ///
    /// - Throws: The errors of `ImageDecoder.decode`; at the time limit, or soon after `context` is cancelled, even
    ///   if the library continues.
    static func image(
        from bytes: [UInt8],
        options: DecodeOptions,
        limits: DecodeLimits,
        context: JobContext,
        calls: DetachedCalls,
        isImmediate: Bool
    ) throws(EideticError) -> Image {
        guard bytes.count <= limits.encodedBytes.bytes else { throw DecodePlan.sizeError(bytes.count, limits: limits) }
        let decode = try DetachedDecode(copying: bytes)
        var reservation = DetachedCalls.Reservation(duration: limits.duration, isImmediate: isImmediate)
        try calls.run(reserving: reservation, context: context) { () throws(EideticError) in
            try decode.parse(options: options, limits: limits, context: context)
        }
        reservation.memory = decode.workingMemory
        return try calls.run(reserving: reservation, context: context) { () throws(EideticError) in
            try decode.image()
        }
    }

    private func parse(options: DecodeOptions, limits: DecodeLimits, context: JobContext) throws(EideticError) {
        let source = UnsafeRawBufferPointer(bytes.bytes)
        let plan = try DecodePlan(bytes: source, options: options, limits: limits, context: context)
        workingMemory = plan.workingMemory
        self.plan = plan
    }

    private func image() throws(EideticError) -> Image {
        guard let plan else { throw EideticError(.corrupt, message: "the image has no header") }
        return try plan.decode()
    }
}
