import Glibc

/// How often the long proofs (kills, races, random orders) repeat.
///
/// The tests run them at a short count; `script/torture` sets `EIDETIC_TORTURE=1` and runs them at the full one.
package enum Torture {
    /// Whether the full count is asked for.
    package static let isFull = getenv("EIDETIC_TORTURE").map { String(cString: $0) } == "1"

    /// How often to repeat something.
    package static func repetitions(_ short: Int, full: Int) -> Int { isFull ? full : short }
}
