import Glibc

/// Moments for what a test does at any time, as a kill is.
///
/// Nothing is waited for: a test has to hold for each moment, and each run tries others.
package enum RandomMoment {
    /// Lets a random time below `limit` pass on the calling thread.
    package static func pass(within limit: Duration) {
        var generator = SystemRandomNumberGenerator()
        pass(within: limit, using: &generator)
    }

    /// Lets a time below `limit` pass on the calling thread, which the generator chooses.
    package static func pass(within limit: Duration, using generator: inout some RandomNumberGenerator) {
        let microseconds = UInt32(limit / .microseconds(1))
        if microseconds > 0 { usleep(.random(in: 0..<microseconds, using: &generator)) }
    }
}
