/// A value behind a lock.
///
/// Inlinable, so that what it guards is specialised in the module that uses it.
@usableFromInline
package struct Guarded<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    // Safe to send: `value` is touched with `lock` held only.
    @usableFromInline let lock: Lock
    @usableFromInline let value: UnsafeMutablePointer<Value>

    /// Guards a value.
    ///
    /// What many threads use side by side has memory of its own, from one multiple of `alignment` to the next: two
    /// locks on one cache line hinder each other.
    @inlinable
    package init(_ initialValue: consuming sending Value, alignment: Int = 8) {
        let alignment = max(alignment, MemoryLayout<Value>.alignment)
        let offset = (Lock.size + MemoryLayout<Value>.alignment - 1) & -MemoryLayout<Value>.alignment
        let size = (offset + MemoryLayout<Value>.size + alignment - 1) & -alignment
        let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: alignment)
        lock = Lock(at: memory)
        value = (memory + offset).bindMemory(to: Value.self, capacity: 1)
        value.initialize(to: initialValue)
    }

    @inlinable
    deinit {
        value.deinitialize(count: 1)
        lock.destroy().deallocate()
    }

    /// Runs `body` with the lock held.
    @inlinable
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value.pointee)
    }
}
