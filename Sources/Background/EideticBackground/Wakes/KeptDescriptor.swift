import Glibc

/// A descriptor that several owners share, closed with the last one.
final class KeptDescriptor: Sendable {
    let rawValue: Int32

    init(adopting number: Int32) { rawValue = number }

    deinit { close(rawValue) }
}
