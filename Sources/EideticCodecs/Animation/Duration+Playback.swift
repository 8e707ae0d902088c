extension Duration {
    /// How long a frame of this stored duration is shown: as browsers do, 10 ms and less become 100 ms (F03).
    ///
    /// Such durations come from tools that meant "as fast as possible" in the days of slow machines.
    var clampedForPlayback: Duration { self < .milliseconds(11) ? .milliseconds(100) : self }
}
