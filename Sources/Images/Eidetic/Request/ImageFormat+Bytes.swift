public import EideticCore
public import FoundationEssentials

extension ImageFormat {
    /// Creates the format of a file from its contents; `nil` if it is not an image of a known format.
    ///
    /// - Parameter bytes: The file, or at least its first 4,096 bytes.
    public init?(of bytes: some ContiguousBytes) {
        guard case .format(let format) = bytes.withUnsafeBytes({ Self.detect(in: $0, isComplete: true) }) else {
            return nil
        }
        self = format
    }
}
