import Glibc

/// Compares bytes quickly in debug builds too: the generic operator takes a second for the pixels of a photograph.
package func == (left: [UInt8], right: [UInt8]) -> Bool {
    left.count == right.count
        && left.withUnsafeBytes { left in
            right.withUnsafeBytes { right in
                guard let start = left.baseAddress, let other = right.baseAddress else { return true }
                return memcmp(start, other, left.count) == 0
            }
        }
}
