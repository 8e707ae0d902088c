/// A value protected by a lock.
///
/// Inlinable, so that it is specialised in the module that uses it.
@usableFromInline
package struct Guarded<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    // Safe to send: `value` is accessed only while `lock` is held.
    @usableFromInline let lock: Lock
    @usableFromInline let value: UnsafeMutablePointer<Value>

    /// Creates a guarded value.
    ///
    /// Values that many threads use at once should have cache lines of their own, because two locks on one cache line
    /// slow each other down. With a larger `alignment` the memory starts and ends at a multiple of it.
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

    /// Calls `body` with exclusive access to the value while the lock is held.
    @inlinable
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value.pointee)
    }
}
