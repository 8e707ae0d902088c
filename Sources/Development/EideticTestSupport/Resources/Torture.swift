import Glibc

/// The number of repetitions of stress tests (kills, races, random orders).
///
/// Normal test runs use a small number. `script/torture` sets `EIDETIC_TORTURE=1`, which selects the full number.
package enum Torture {
    /// A Boolean value indicating whether stress tests run the full number of repetitions.
    package static let isFull = getenv("EIDETIC_TORTURE").map { String(cString: $0) } == "1"

    /// Returns the number in an environment variable; `nil` if there is none.
    package static func environmentCount(_ name: String) -> Int? {
        getenv(name).flatMap { Int(String(cString: $0)) }
    }

    /// Returns `short` in normal test runs, and `full` under `script/torture`.
    package static func repetitions(_ short: Int, full: Int) -> Int { isFull ? full : short }
}
