import EideticCore
import Glibc
import Synchronization

/// Allocates memory at a steady rate on a thread of its own, and releases all of it when stopped.
final class MemoryGrowth: Sendable {
    private let isStopped = Atomic<Bool>(false)

    /// Starts the thread, which allocates the first mebibytes without a pause; `isForPixels` allocates as decoders do,
    /// which Eidetic counts.
    init(mebibytesPerSecond: Int, after first: Int, isForPixels: Bool = false) {
        guard mebibytesPerSecond > 0 else { return }
        Thread.start(name: "growth") {
            var blocks: [Block] = []
            while !self.isStopped.load(ordering: .relaxed) {
                guard let block = Self.allocateBlock(isForPixels: isForPixels) else { break }
                memset(block.memory, 1, 1 << 20)
                blocks.append(block)
                if blocks.count > first { usleep(UInt32(1_000_000 / mebibytesPerSecond)) }
            }
            for block in blocks { block.release() }
            printLine("released \(blocks.count) MiB")
        }
    }

    /// One mebibyte, of the system or of the allocator of pixels.
    private enum Block {
        case mapping(UnsafeMutableRawPointer)
        case pixels(PixelMemory.Block)

        var memory: UnsafeMutableRawPointer {
            switch self {
            case .mapping(let memory): memory
            case .pixels(let block): block.memory
            }
        }

        func release() {
            switch self {
            case .mapping(let memory): munmap(memory, 1 << 20)
            case .pixels(let block): PixelMemory.deallocate(block)
            }
        }
    }

    private static func allocateBlock(isForPixels: Bool) -> Block? {
        if isForPixels { return PixelMemory.allocate(byteCount: 1 << 20).map(Block.pixels) }
        let block = mmap(nil, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        return block == MAP_FAILED ? nil : block.map(Block.mapping)
    }

    func stop() { isStopped.store(true, ordering: .relaxed) }
}
