import CLinux

/// The memory that is taken by `malloc`.
package enum Heap {
    /// Gives what was freed back to the system, also from between what is in use; takes milliseconds.
    package static func giveBack() { eidetic_give_memory_back() }
}
