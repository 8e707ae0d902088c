import EideticCore
import Glibc
import Synchronization

/// Allocates memory at a steady rate on a thread of its own, and releases all of it when stopped.
final class MemoryGrowth: Sendable {
    private let isStopped = Atomic<Bool>(false)

    /// Starts the thread; `isForPixels` allocates as decoders do, which Eidetic counts.
    init(mebibytesPerSecond: Int, isForPixels: Bool = false) {
        guard mebibytesPerSecond > 0 else { return }
        Thread.start(name: "growth") {
            var blocks: [UnsafeMutableRawPointer] = []
            while !self.isStopped.load(ordering: .relaxed) {
                guard let block = Self.allocateBlock(isForPixels: isForPixels) else { break }
                memset(block, 1, 1 << 20)
                blocks.append(block)
                usleep(UInt32(1_000_000 / mebibytesPerSecond))
            }
            for block in blocks { if isForPixels { free(block) } else { munmap(block, 1 << 20) } }
            printLine("released \(blocks.count) MiB")
        }
    }

    private static func allocateBlock(isForPixels: Bool) -> UnsafeMutableRawPointer? {
        if isForPixels { return PixelMemory.allocate(byteCount: 1 << 20) }
        let block = mmap(nil, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        return block == MAP_FAILED ? nil : block
    }

    func stop() { isStopped.store(true, ordering: .relaxed) }
}
