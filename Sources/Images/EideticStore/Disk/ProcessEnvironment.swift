import Glibc

/// The environment of the process.
enum ProcessEnvironment {
    /// The number of the effective user.
    static var userNumber: UInt32 { geteuid() }

    /// Returns the value of an environment variable, or `nil` if it is not set.
    static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
