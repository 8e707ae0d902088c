import EideticCore

/// The bytes of an encoded image that have been received so far.
///
/// A reader gets a copy: nothing is decoded from memory to which the network still appends.
final class PartialData: Sendable {
    private let bytes: Guarded<[UInt8]>

    init(expectedCount: Int?, limit: ByteCount) {
        var empty: [UInt8] = []
        empty.reserveCapacity(min(expectedCount ?? 65_536, limit.bytes, 16_777_216))
        bytes = Guarded(empty)
    }

    /// Appends received bytes; returns the number of bytes received so far.
    func append(_ chunk: [UInt8]) -> Int {
        bytes.withLock { bytes in
            bytes.append(contentsOf: chunk)
            return bytes.count
        }
    }

    /// Appends received bytes if they begin where the bytes so far end; returns `false` if they do not.
    func append(_ part: UnsafeRawBufferPointer, at offset: Int) -> Bool {
        bytes.withLock { bytes in
            guard offset == bytes.count else { return false }
            bytes.append(contentsOf: part)
            return true
        }
    }

    /// The first bytes, which suffice to detect the format.
    var signature: [UInt8] { prefix(ImageFormat.maximumSignatureLength) }

    /// Returns the first bytes, at most `count`.
    func prefix(_ count: Int) -> [UInt8] { bytes.withLock { Array($0.prefix(count)) } }

    var count: Int { bytes.withLock { $0.count } }

    /// Returns the bytes received so far behind the first `count`.
    func bytes(from count: Int) -> [UInt8] { bytes.withLock { Array($0.dropFirst(count)) } }

    /// Calls `body` with the bytes received so far; no more are received meanwhile.
    func withUnsafeBytes<Value: Sendable>(_ body: (UnsafeRawBufferPointer) -> Value) -> Value {
        bytes.withLock { bytes in bytes.withUnsafeBytes { body($0) } }
    }

    /// A copy of the bytes received so far.
    ///
    /// - Complexity: O(*n*), once, if more bytes are appended afterwards.
    var snapshot: [UInt8] { bytes.withLock { $0 } }
}
