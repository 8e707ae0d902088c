import CLinux
import EideticCore
import Glibc
import EideticLifecycle
import Synchronization

/// The queue through which other threads and signal handlers reach the lifecycle thread: a list, and a pipe to wake it.
final class EventInbox: Sendable {
    /// The signals and events since the last call of `drain()`.
    struct Batch {
        var signals: [Int32] = []
        var events: [LifecycleEvent] = []
        /// The archive that came with an acknowledgement, to be saved for the next launch.
        var archive: [UInt8]?
    }

    private let batch = Guarded(Batch())
    private let pipe: (reader: Int32, writer: Int32)
    private let multitaskingFlag = Atomic<Bool>(true)
    /// A Boolean value indicating whether a wake byte is in the pipe; one is enough, and leaves room for signals.
    private let isWakePending = Atomic<Bool>(false)
    private let isIdleReported = Atomic<Bool>(false)
    private let supervisedFlag = Atomic<Bool>(false)
    private let isMemoryReadingRequested = Atomic<Bool>(false)

    /// A byte that is not a signal number.
    private static let wakeByte: UInt8 = 0

    init() {
        var ends: [Int32] = [-1, -1]
        let result = pipe2(&ends, O_CLOEXEC | O_NONBLOCK)
        precondition(result == 0, "cannot create a pipe: \(SystemError.message(for: errno))")
        self.pipe = (ends[0], ends[1])
    }

    deinit {
        close(pipe.reader)
        close(pipe.writer)
    }

    /// The descriptor that is readable when there is an event.
    var descriptor: Int32 { pipe.reader }

    var signalDescriptor: Int32 { pipe.writer }

    var isMultitaskingSupported: Bool {
        get { multitaskingFlag.load(ordering: .relaxed) }
        set { multitaskingFlag.store(newValue, ordering: .relaxed) }
    }

    /// A Boolean value indicating whether a supervisor decides the lifecycle.
    var isSupervised: Bool {
        get { supervisedFlag.load(ordering: .relaxed) }
        set { supervisedFlag.store(newValue, ordering: .relaxed) }
    }

    /// Wakes the lifecycle thread because the number of open tasks has changed from or to none.
    func reportOpenCountChange() {
        isIdleReported.store(true, ordering: .sequentiallyConsistent)
        wake()
    }

    /// Returns whether the number has changed since the last call.
    func takeIdleReport() -> Bool { isIdleReported.exchange(false, ordering: .sequentiallyConsistent) }

    func post(_ events: [LifecycleEvent]) {
        batch.withLock { $0.events += events }
        wake()
    }

    /// Records that the application has completed a callback.
    func acknowledge(_ callback: LifecycleCallback, archive: [UInt8]? = nil) {
        batch.withLock { batch in
            batch.events.append(.callbackAcknowledged(callback, process: .first))
            if let archive { batch.archive = archive }
        }
        wake()
    }

    func wake() { if !isWakePending.exchange(true, ordering: .sequentiallyConsistent) { send(Self.wakeByte) } }

    /// Wakes the lifecycle thread for a reading of the memory.
    func requestMemoryReading() {
        isMemoryReadingRequested.store(true, ordering: .sequentiallyConsistent)
        wake()
    }

    /// Returns whether a reading was requested since the last call.
    func takeMemoryReadingRequest() -> Bool {
        isMemoryReadingRequested.exchange(false, ordering: .sequentiallyConsistent)
    }

    /// Requests termination as SIGTERM does, even if signals are not handled.
    func requestTermination() { send(UInt8(SIGTERM)) }

    private func send(_ byte: UInt8) { withUnsafePointer(to: byte) { _ = write(pipe.writer, $0, 1) } }

    /// Removes and returns the signals and events since the last call.
    func drain() -> Batch {
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = max(0, read(pipe.reader, &bytes, bytes.count))
        // Before the batch is drained: an event that is posted later writes a byte of its own.
        isWakePending.store(false, ordering: .sequentiallyConsistent)
        var drained = batch.withLock { batch in
            defer { batch = Batch() }
            return batch
        }
        drained.signals = bytes[..<count].filter { $0 != Self.wakeByte }.map(Int32.init)
        return drained
    }
}
