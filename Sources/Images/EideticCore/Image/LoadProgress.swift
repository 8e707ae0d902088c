/// The progress of a download in bytes of its body.
public struct LoadProgress: Sendable, Hashable {
    /// The number of bytes received, after decompression.
    public let received: Int

    /// The length of the body; `nil` if the server did not announce it, or if the body is compressed.
    public let expected: Int?

    package init(received: Int, expected: Int?) {
        self.received = received
        self.expected = expected
    }

    /// The received fraction of the body, 0 to 1; `nil` if its length is unknown.
    public var fraction: Double? {
        guard let expected, expected > 0 else { return nil }
        return min(1, Double(received) / Double(expected))
    }
}
