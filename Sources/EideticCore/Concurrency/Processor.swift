internal import CLinux

/// The processor that a thread runs on.
@usableFromInline
package enum Processor {
    /// The number of the processor on which the calling thread ran a moment ago; any number where it is not known.
    ///
    /// Costs about a nanosecond: the kernel keeps the number in the thread's own memory.
    @usableFromInline package static var currentIndex: Int { Int(truncatingIfNeeded: eidetic_current_processor()) }
}
