import Synchronization

/// The first bytes of files in formats of users.
package enum OwnSignatures {
    private static let signatures = Guarded<[(bytes: [UInt8], format: ImageFormat)]>([])
    /// The number of signatures, which most processes find to be zero without the lock.
    private static let count = Atomic<Int>(0)

    /// Adds the signatures of a format.
    ///
    /// - Precondition: Each has 1 to 64 bytes.
    package static func add(_ added: [[UInt8]], of format: ImageFormat) {
        precondition(added.allSatisfy { (1...64).contains($0.count) }, "a signature has 1 to 64 bytes")
        signatures.withLock { signatures in
            signatures.removeAll { $0.format == format }
            signatures += added.map { (bytes: $0, format: format) }
            count.store(signatures.count, ordering: .releasing)
        }
    }

    /// Detects the format of a user by the first bytes of a file.
    static func detect(in bytes: UnsafeRawBufferPointer) -> ImageFormat.Detection {
        guard count.load(ordering: .acquiring) > 0 else { return .unknown }
        let start = bytes.prefix(64)
        return signatures.withLock { signatures in
            if let match = signatures.first(where: { start.starts(with: $0.bytes) }) { return .format(match.format) }
            return signatures.contains { $0.bytes.starts(with: start) } ? .needsMoreBytes : .unknown
        }
    }
}
