import Glibc

/// An open file, closed when the value is destroyed.
package struct FileDescriptor: ~Copyable {
    /// The system's number for the open file.
    package let rawValue: Int32

    package init(adopting number: Int32) { self.rawValue = number }

    deinit { _ = Glibc.close(rawValue) }

    /// Ends the ownership and returns the number; the caller must close it.
    package consuming func relinquish() -> Int32 {
        let number = rawValue
        discard self
        return number
    }
}
