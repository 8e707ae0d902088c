#if SANITIZE_THREAD
public import Glibc

/// A lock for ThreadSanitizer builds, which understand pthread mutexes but not the ordering that a futex establishes.
@usableFromInline
package struct Lock: @unchecked Sendable {
    // Safe to send: the mutex stays at one address until it is destroyed.
    @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>

    @inlinable static var size: Int { MemoryLayout<pthread_mutex_t>.size }

    @inlinable
    init(at memory: UnsafeMutableRawPointer) {
        mutex = memory.bindMemory(to: pthread_mutex_t.self, capacity: 1)
        pthread_mutex_init(mutex, nil)
    }

    @inlinable
    func destroy() -> UnsafeMutableRawPointer {
        pthread_mutex_destroy(mutex)
        return UnsafeMutableRawPointer(mutex)
    }

    @inlinable
    func lock() { pthread_mutex_lock(mutex) }

    @inlinable
    func unlock() { pthread_mutex_unlock(mutex) }
}
#else
import CLinux
public import Synchronization

/// A mutual exclusion lock: one word of memory, and a system call only under contention.
///
/// After U. Drepper, "Futexes Are Tricky", 2011 (mutex2). A released lock goes to the first thread that tries to take
/// it. The standard library's `Mutex` hands it to a sleeping thread instead; with more competing threads than
/// processors, each acquisition then costs a context switch.
@usableFromInline
package struct Lock: @unchecked Sendable {
    // Safe to send: the atomic stays at one address until it is destroyed.
    @usableFromInline let word: UnsafeMutablePointer<Atomic<UInt32>>

    @inlinable static var size: Int { MemoryLayout<Atomic<UInt32>>.size }
    @inlinable static var free: UInt32 { 0 }
    @inlinable static var held: UInt32 { 1 }
    @inlinable static var contended: UInt32 { 2 }
    /// The number of attempts before a thread sleeps: about as long as most critical sections take.
    private static let spinLimit = 60

    @inlinable
    init(at memory: UnsafeMutableRawPointer) {
        word = memory.bindMemory(to: Atomic<UInt32>.self, capacity: 1)
        word.initialize(to: Atomic(Self.free))
    }

    /// Destroys the lock and returns the memory that it was created in.
    @inlinable
    func destroy() -> UnsafeMutableRawPointer {
        word.deinitialize(count: 1)
        return UnsafeMutableRawPointer(word)
    }

    @inlinable
    func lock() { if !tryLock() { lockContended() } }

    @inlinable
    func unlock() {
        if word.pointee.exchange(Self.free, ordering: .releasing) == Self.contended { wakeWaiter() }
    }

    /// Takes the lock if it is free; returns `true` on success.
    @inlinable
    func tryLock() -> Bool {
        word.pointee.compareExchange(
            expected: Self.free,
            desired: Self.held,
            successOrdering: .acquiring,
            failureOrdering: .relaxed
        ).exchanged
    }

    @inline(never) @usableFromInline
    func lockContended() {
        for _ in 0..<Self.spinLimit {
            if word.pointee.load(ordering: .relaxed) == Self.free, tryLock() { return }
        }
        while word.pointee.exchange(Self.contended, ordering: .acquiring) != Self.free {
            eidetic_futex_wait(word, Self.contended)
        }
    }

    @inline(never) @usableFromInline
    func wakeWaiter() { eidetic_futex_wake(word) }
}
#endif
