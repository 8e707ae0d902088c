package import FoundationEssentials

extension ContiguousBytes {
    /// The bytes in an array; without a copy if they are one.
    package var array: [UInt8] { self as? [UInt8] ?? withUnsafeBytes { Array($0) } }
}
