extension Duration {
    /// The playback duration of a frame with this stored duration: as in browsers, 10 ms or less becomes 100 ms.
    ///
    /// Very short durations come from tools that meant "as fast as possible" on slow machines.
    package var clampedForPlayback: Duration { self < .milliseconds(11) ? .milliseconds(100) : self }
}
