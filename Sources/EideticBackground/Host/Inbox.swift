import CLinux
import EideticCore
import Glibc
import LifecycleCore
import Synchronization

/// How other threads and signal handlers reach the thread that keeps the time: a list, and a pipe that wakes it.
final class EventInbox: Sendable {
    /// What came since the last look.
    struct Batch {
        var signals: [Int32] = []
        var events: [LifecycleEvent] = []
        /// What came with an acknowledgement, to be saved for the next launch.
        var archive: [UInt8]?
    }

    private let batch = Guarded(Batch())
    private let pipe: (reader: Int32, writer: Int32)
    private let multitaskingFlag = Atomic<Bool>(true)
    /// Whether a byte for news is under way: one is enough, and the pipe keeps its room for signals.
    private let isWakePending = Atomic<Bool>(false)

    /// A byte that stands for no signal.
    private static let wakeByte: UInt8 = 0

    init() {
        var ends: [Int32] = [-1, -1]
        precondition(eidetic_pipe(&ends) == 0, "no pipe could be made: \(SystemError.message(for: errno))")
        self.pipe = (ends[0], ends[1])
    }

    deinit {
        close(pipe.reader)
        close(pipe.writer)
    }

    /// Readable when there is news.
    var descriptor: Int32 { pipe.reader }

    /// Where signal handlers write.
    var signalDescriptor: Int32 { pipe.writer }

    var isMultitaskingSupported: Bool {
        get { multitaskingFlag.load(ordering: .relaxed) }
        set { multitaskingFlag.store(newValue, ordering: .relaxed) }
    }

    func post(_ events: [LifecycleEvent]) {
        batch.withLock { $0.events += events }
        wake()
    }

    /// The application has done what it was told.
    func acknowledge(_ callback: LifecycleCallback, archive: [UInt8]? = nil) {
        batch.withLock { news in
            news.events.append(.callbackAcknowledged(callback))
            if let archive { news.archive = archive }
        }
        wake()
    }

    func wake() { if !isWakePending.exchange(true, ordering: .sequentiallyConsistent) { send(Self.wakeByte) } }

    /// The same as the signal, also where signals are not handled.
    func requestTermination() { send(UInt8(SIGTERM)) }

    private func send(_ byte: UInt8) { withUnsafePointer(to: byte) { _ = write(pipe.writer, $0, 1) } }

    /// Signals since the last call, and what was posted.
    func drain() -> Batch {
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = max(0, read(pipe.reader, &bytes, bytes.count))
        // Before the news is taken: what is posted after this sends a byte of its own.
        isWakePending.store(false, ordering: .sequentiallyConsistent)
        var taken = batch.withLock { news in
            defer { news = Batch() }
            return news
        }
        taken.signals = bytes[..<count].filter { $0 != Self.wakeByte }.map(Int32.init)
        return taken
    }
}
