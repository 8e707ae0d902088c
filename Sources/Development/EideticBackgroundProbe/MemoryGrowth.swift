import EideticCore
import Glibc
import Synchronization

/// Allocates memory at a steady rate on a thread of its own, and releases all of it when stopped.
final class MemoryGrowth: Sendable {
    private let isStopped = Atomic<Bool>(false)

    init(mebibytesPerSecond: Int) {
        guard mebibytesPerSecond > 0 else { return }
        Thread.start(name: "growth") {
            var blocks: [UnsafeMutableRawPointer] = []
            while !self.isStopped.load(ordering: .relaxed) {
                let block = mmap(nil, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                guard let block, block != MAP_FAILED else { break }
                memset(block, 1, 1 << 20)
                blocks.append(block)
                usleep(UInt32(1_000_000 / mebibytesPerSecond))
            }
            for block in blocks { munmap(block, 1 << 20) }
            printLine("released \(blocks.count) MiB")
        }
    }

    func stop() { isStopped.store(true, ordering: .relaxed) }
}
