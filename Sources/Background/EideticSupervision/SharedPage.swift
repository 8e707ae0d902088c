package import EideticCore
import Glibc
package import EideticLifecycle
package import Synchronization

/// The application's side of the shared page, mapped into its memory.
///
/// All operations are sequentially consistent: the supervisor writes the phase and then reads the count, the
/// application writes the count and then reads the phase, so that one of them sees the change of the other.
package final class SharedPage: @unchecked Sendable {
    // Safe to send: the memory is accessed by atomic operations only, and unmapped after the last use.
    private let memory: UnsafeMutableRawPointer

    /// Maps the page of an open file.
    ///
    /// - Throws: `SystemError`; with `EINVAL`, the file is no shared page.
    package init(mapping descriptor: Int32) throws(SystemError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw SystemError(.fstat, errorNumber: errno) }
        guard status.st_size >= PageLayout.size else { throw SystemError(.mmap, errorNumber: EINVAL) }
        let address = mmap(nil, PageLayout.size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        guard let address, address != MAP_FAILED else { throw SystemError(.mmap, errorNumber: errno) }
        memory = address
        guard self[.magic] == PageLayout.magic else { throw SystemError(.mmap, errorNumber: EINVAL) }
    }

    deinit { munmap(memory, PageLayout.size) }

    private subscript(word: PageLayout.Word) -> UInt64 {
        (memory + word.rawValue).assumingMemoryBound(to: Atomic<UInt64>.self).pointee
            .load(ordering: .sequentiallyConsistent)
    }

    /// The words that each background task accesses, without counting references; valid as long as the page.
    package var taskWords: TaskWords { TaskWords(memory) }

    /// The end of background time; `nil` if it does not end.
    package var deadline: Duration? {
        let nanoseconds = self[.deadline]
        return nanoseconds > UInt64(Int64.max) ? nil : .nanoseconds(Int64(nanoseconds))
    }

    /// The time for which the application was suspended, and how often.
    package var suspendedTime: Duration { .nanoseconds(Int64(clamping: self[.suspendedTime])) }
    package var suspensionCount: UInt64 { self[.suspensionCount] }
}

extension SharedPage {
    /// The phase, and the number of open tasks.
    @usableFromInline
    package struct TaskWords: @unchecked Sendable {
        // Safe to send: the words are atomic.
        @usableFromInline let phaseWord: UnsafeMutablePointer<Atomic<UInt64>>
        @usableFromInline let countWord: UnsafeMutablePointer<Atomic<UInt64>>
        private let requestWord: UnsafeMutablePointer<Atomic<UInt64>>

        init(_ memory: UnsafeMutableRawPointer) {
            phaseWord = (memory + PageLayout.Word.phase.rawValue).assumingMemoryBound(to: Atomic<UInt64>.self)
            countWord = (memory + PageLayout.Word.openTasks.rawValue).assumingMemoryBound(to: Atomic<UInt64>.self)
            requestWord = (memory + PageLayout.Word.idleRequest.rawValue).assumingMemoryBound(to: Atomic<UInt64>.self)
        }

        /// The phase that governs new background tasks; an unknown one admits none.
        @inlinable
        package var phase: TaskPhase {
            TaskPhase(rawValue: UInt32(clamping: phaseWord.pointee.load(ordering: .sequentiallyConsistent)))
                ?? .terminating
        }

        /// Takes back the supervisor's request for a report that no task is open; returns `false` if there is none.
        ///
        /// The supervisor makes the request and then reads the count, the application publishes the count and then
        /// takes the request: one of them sees that no task is open.
        package func takeIdleRequest() -> Bool {
            requestWord.pointee.exchange(0, ordering: .sequentiallyConsistent) != 0
        }

        /// Publishes the number of open tasks; called under the lock of their table.
        @inlinable
        package func publish(openTasks count: Int) {
            countWord.pointee.store(UInt64(truncatingIfNeeded: count), ordering: .sequentiallyConsistent)
        }
    }
}
