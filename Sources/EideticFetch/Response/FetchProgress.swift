/// How far a download is, in bytes of the body.
public struct FetchProgress: Sendable, Hashable {
    /// Bytes that came; after decompression.
    public let received: Int

    /// Bytes that the server announced; `nil` where it did not, or where the body is compressed.
    public let expected: Int?

    /// Creates a progress.
    public init(received: Int, expected: Int?) {
        self.received = received
        self.expected = expected
    }

    /// The part that is there, 0 to 1; `nil` where the whole is unknown.
    public var fraction: Double? {
        guard let expected, expected > 0 else { return nil }
        return min(1, Double(received) / Double(expected))
    }
}
