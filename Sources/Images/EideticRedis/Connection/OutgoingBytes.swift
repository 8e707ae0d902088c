#if Redis
import Glibc

/// Commands that are to be sent, in pieces: small ones together, large ones each in its own without another copy.
struct OutgoingBytes {
    /// The number of bytes above which a piece is not extended.
    private static let pieceSize = 1 << 16

    private var pieces = RequestQueue<[UInt8]>()
    /// The last piece, which is extended; the others are complete.
    private var last: [UInt8] = []
    /// The number of bytes of the first piece that were sent.
    private var sentCount = 0

    var isEmpty: Bool { pieces.isEmpty && last.isEmpty }

    mutating func append(_ bytes: [UInt8]) {
        if last.count + bytes.count > Self.pieceSize, !last.isEmpty { completePiece() }
        if last.isEmpty { last = bytes } else { last.append(contentsOf: bytes) }
    }

    private mutating func completePiece() {
        pieces.append(last)
        last = []
    }

    /// Sends as much as a socket accepts without blocking.
    ///
    /// - Returns: `false` if the socket failed, with the reason in `errno`; otherwise, `true`.
    mutating func send(to descriptor: Int32) -> Bool {
        while !isEmpty {
            if pieces.isEmpty { completePiece() }
            guard let piece = pieces.first else { return true }
            let count = piece.withUnsafeBytes { bytes in
                let rest = UnsafeRawBufferPointer(rebasing: bytes[sentCount...])
                return Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return errno == EAGAIN }
            sentCount += count
            if sentCount == piece.count { (sentCount, _) = (0, pieces.removeFirst()) }
        }
        return true
    }
}
#endif
