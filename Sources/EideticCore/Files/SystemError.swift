import Glibc

/// A system call that failed.
package struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Which call.
    package let call: SystemCall
    /// Why: the value of `errno`.
    package let errorNumber: Int32
    /// On which file, where there was one.
    package let path: String?

    package init(_ call: SystemCall, errorNumber number: Int32, path: String? = nil) {
        self.call = call
        self.errorNumber = number
        self.path = path
    }

    /// `open /tmp/a: No such file or directory`.
    package var description: String {
        "\(call.rawValue)\(path.map { " \($0)" } ?? ""): \(Self.message(for: errorNumber))"
    }

    /// The system's text for an error number.
    package static func message(for number: Int32) -> String {
        var buffer = [CChar](repeating: 0, count: 128)
        guard strerror_r(number, &buffer, buffer.count) == 0 else { return "error \(number)" }
        return buffer.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    }
}

extension EideticError {
    /// The public form of a failed system call.
    package init(_ error: SystemError) {
        let code: Code =
            switch error.errorNumber {
            case ENOSPC, EDQUOT: .diskFull
            case EACCES, EPERM, EROFS: .permissionDenied
            case ENOENT: .notFound
            default: .fileFailure
            }
        self.init(code, message: error.description, systemErrorNumber: error.errorNumber)
    }
}
