import Glibc

/// The failure of a system call.
package struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
    package let call: SystemCall
    /// The value of `errno`.
    package let errorNumber: Int32
    /// The path of the file, if the call has one.
    package let path: String?
    /// The reason for which a directory was refused before a call was made.
    package let violation: DirectoryTrust.Violation?

    package init(
        _ call: SystemCall,
        errorNumber: Int32,
        path: String? = nil,
        violation: DirectoryTrust.Violation? = nil
    ) {
        self.call = call
        self.errorNumber = errorNumber
        self.path = path
        self.violation = violation
    }

    /// The call, the path and the system's message, as in `open /tmp/a: No such file or directory`.
    package var description: String {
        if let violation { return violation.description }
        return "\(call.rawValue)\(path.map { " \($0)" } ?? ""): \(Self.message(for: errorNumber))"
    }

    package static func message(for errorNumber: Int32) -> String {
        var buffer = [CChar](repeating: 0, count: 128)
        guard strerror_r(errorNumber, &buffer, buffer.count) == 0 else { return "error \(errorNumber)" }
        return buffer.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    }
}

extension EideticError {
    /// Creates the public form of a failed system call.
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
