import Glibc

/// The value of an environment variable; `nil` where it is not set.
func environmentVariable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

/// The number of the user who runs the process.
func userNumber() -> UInt32 { geteuid() }
