import CLinux
import EideticCore
import Glibc
import LifecycleCore
import Synchronization

/// How other threads and signal handlers reach the thread that keeps the time: a list, and a pipe that wakes it.
final class Inbox: Sendable {
    /// What came since the last look.
    struct News {
        var signals: [Int32] = []
        var events: [LifecycleEvent] = []
        /// What came with an acknowledgement, to be saved for the next launch.
        var archive: [UInt8]?
    }

    private let news = Guarded(News())
    private let ends: (reader: Int32, writer: Int32)
    private let multitasking = Atomic<Bool>(true)
    /// Whether a byte for news is under way: one is enough, and the pipe keeps its room for signals.
    private let isWaking = Atomic<Bool>(false)

    /// A byte that stands for no signal.
    private static let wakeUp: UInt8 = 0

    init() {
        var ends: [Int32] = [-1, -1]
        precondition(eidetic_pipe(&ends) == 0, "no pipe could be made: \(SystemError.message(errno))")
        self.ends = (ends[0], ends[1])
    }

    deinit {
        close(ends.reader)
        close(ends.writer)
    }

    /// Readable when there is news.
    var descriptor: Int32 { ends.reader }

    /// Where signal handlers write.
    var signalDescriptor: Int32 { ends.writer }

    var isMultitaskingSupported: Bool {
        get { multitasking.load(ordering: .relaxed) }
        set { multitasking.store(newValue, ordering: .relaxed) }
    }

    func post(_ events: [LifecycleEvent]) {
        news.withLock { $0.events += events }
        wake()
    }

    /// The application has done what it was told.
    func acknowledge(_ callback: Callback, archive: [UInt8]? = nil) {
        news.withLock { news in
            news.events.append(.acknowledged(callback))
            if let archive { news.archive = archive }
        }
        wake()
    }

    func wake() { if !isWaking.exchange(true, ordering: .sequentiallyConsistent) { send(Self.wakeUp) } }

    /// The same as the signal, also where signals are not handled.
    func requestStop() { send(UInt8(SIGTERM)) }

    private func send(_ byte: UInt8) { withUnsafePointer(to: byte) { _ = write(ends.writer, $0, 1) } }

    /// Signals since the last call, and what was posted.
    func take() -> News {
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = max(0, read(ends.reader, &bytes, bytes.count))
        // Before the news is taken: what is posted after this sends a byte of its own.
        isWaking.store(false, ordering: .sequentiallyConsistent)
        var taken = news.withLock { news in
            defer { news = News() }
            return news
        }
        taken.signals = bytes[..<count].filter { $0 != Self.wakeUp }.map(Int32.init)
        return taken
    }
}
