#if SANITIZE_THREAD
public import Glibc

/// A lock, for ThreadSanitizer builds: it cannot see that a futex orders what threads do, but knows pthread mutexes.
@usableFromInline
package struct Lock: @unchecked Sendable {
    // Safe to send: a mutex, at one place until it is destroyed.
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

/// A lock: a word in memory, and the kernel only where somebody has to wait.
///
/// After U. Drepper, "Futexes Are Tricky", 2011 (mutex2). A lock that is let go is free for whoever comes first. The
/// standard library's `Mutex` hands it to a thread that sleeps: where more threads want it than there are processors,
/// each turn then costs a switch of threads.
@usableFromInline
package struct Lock: @unchecked Sendable {
    // Safe to send: an atomic, at one place until it is destroyed.
    @usableFromInline let word: UnsafeMutablePointer<Atomic<UInt32>>

    @inlinable static var size: Int { MemoryLayout<Atomic<UInt32>>.size }
    @inlinable static var free: UInt32 { 0 }
    @inlinable static var held: UInt32 { 1 }
    @inlinable static var contended: UInt32 { 2 }
    /// How often a thread looks again before it sleeps: about what most locks are held for.
    private static let spinLimit = 60

    @inlinable
    init(at memory: UnsafeMutableRawPointer) {
        word = memory.bindMemory(to: Atomic<UInt32>.self, capacity: 1)
        word.initialize(to: Atomic(Self.free))
    }

    /// Gives back the memory that it was made in.
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

    /// Takes the lock where it is free.
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
            eidetic_wait_while(word, Self.contended)
        }
    }

    @inline(never) @usableFromInline
    func wakeWaiter() { eidetic_wake_one(word) }
}
#endif
