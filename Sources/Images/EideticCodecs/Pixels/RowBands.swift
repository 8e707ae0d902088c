import EideticCore
import Glibc

/// The rows of an image, divided among the processors.
///
/// The caller works, too, and waits for those bands only that another thread has begun: where all processors are busy,
/// it does all of them itself.
package final class RowBands: Sendable {
    fileprivate struct State {
        /// The number of bands that were begun, and of those that are done.
        var begunCount = 0
        var doneCount = 0
    }

    private let rowCount: Int
    private let bandCount: Int
    private let body: @Sendable (_ rows: Range<Int>) -> Void
    private let monitor = Monitor(State())

    /// The number of bytes from which the work is divided: waking a thread takes as long as 256 KiB.
    static let minimumByteCount = 1 << 20

    private static let processorCount = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    private static let pool = WorkPool(name: "rows", maximumThreadCount: processorCount - 1)

    /// Reads the number of processors, for a process that cannot open files later.
    static func prepare() { _ = processorCount }

    private init(rowCount: Int, bandCount: Int, body: @escaping @Sendable (_ rows: Range<Int>) -> Void) {
        self.rowCount = rowCount
        self.bandCount = bandCount
        self.body = body
    }

    /// Calls `body` for ranges that together are all rows, on several threads if there are `minimumByteCount` bytes to
    /// write; returns when all calls have.
    static func run(rowCount: Int, byteCount: Int, body: @escaping @Sendable (_ rows: Range<Int>) -> Void) {
        guard byteCount >= minimumByteCount, processorCount > 1 else { return body(0..<rowCount) }
        // Two for each processor, since another program may hold one of them up.
        let bands = RowBands(rowCount: rowCount, bandCount: min(rowCount, 2 * processorCount), body: body)
        for _ in 1..<processorCount { pool.enqueue { bands.work() } }
        bands.work()
        bands.monitor.wait { $0.doneCount == bands.bandCount ? () : nil }
    }

    /// Copies rows on several threads, which a large copy out of shared memory is worth.
    package static func copy(
        _ source: UnsafeRawBufferPointer,
        to target: UnsafeMutableRawBufferPointer,
        rowSize: Int
    ) {
        // Safe to send: the rows are read and written by one thread each, before the call returns.
        nonisolated(unsafe) let (source, target) = (source, target)
        run(rowCount: source.count / rowSize, byteCount: source.count) { rows in
            let range = rows.lowerBound * rowSize..<rows.upperBound * rowSize
            UnsafeMutableRawBufferPointer(rebasing: target[range])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: source[range]))
        }
    }

    /// Does bands until all are begun.
    private func work() {
        while let band = monitor.withLock({ $0.begin(of: bandCount) }) {
            body(rowCount * band / bandCount..<rowCount * (band + 1) / bandCount)
            monitor.withLock { $0.doneCount += 1 }
            monitor.broadcast()
        }
    }
}

extension RowBands.State {
    /// Returns the number of a band that nobody has begun; `nil` if there is none.
    fileprivate mutating func begin(of count: Int) -> Int? {
        guard begunCount < count else { return nil }
        defer { begunCount += 1 }
        return begunCount
    }
}
