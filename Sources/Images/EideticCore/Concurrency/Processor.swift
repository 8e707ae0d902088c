internal import CLinux

/// The processor that a thread runs on.
@usableFromInline
package enum Processor {
    /// The index of the processor that ran the calling thread a moment ago; any number if it is unknown.
    ///
    /// Takes about a nanosecond: the kernel keeps the index in the thread's own memory.
    @usableFromInline package static var currentIndex: Int { Int(truncatingIfNeeded: eidetic_current_processor()) }
}
