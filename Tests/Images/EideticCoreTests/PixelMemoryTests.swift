@testable import EideticCore
import Glibc
import Testing

@Suite("Memory for pixels", .enabled(if: !isSanitized, "the address sanitizer has its own allocator"))
struct PixelMemoryTests {
    /// Returns the resident memory of this process in bytes.
    private func residentByteCount() throws -> Int {
        let text = String(decoding: try FileSystem().contents(of: "/proc/self/statm"), as: UTF8.self)
        let pages = try #require(text.split(separator: " ").dropFirst().first.flatMap { Int($0) })
        return pages * Int(getpagesize())
    }

    /// Allocates memory and writes to each page.
    private func allocate(_ byteCount: Int) throws -> PixelMemory.Block {
        let block = try #require(PixelMemory.allocate(byteCount: byteCount))
        memset(block.memory, 1, byteCount)
        return block
    }

    @Test("L12 released pixels go back to the system, though small allocations lie between them in time")
    func goesBack() throws {
        let size = 100 << 10, count = 2_000
        PixelMemory.releaseUnused()
        let before = try residentByteCount()
        var blocks: [PixelMemory.Block] = [], others: [UnsafeMutableRawPointer?] = []
        for _ in 0..<count {
            blocks.append(try allocate(size))
            others.append(malloc(200))
        }
        let full = try residentByteCount()
        #expect(full - before > count * size * 9 / 10)
        for (index, block) in blocks.enumerated() where index % 8 != 0 {
            PixelMemory.deallocate(block)
        }
        let remaining = try residentByteCount() - before
        // An eighth is in use, 4 MiB are kept; the rest is for the allocator and other tests.
        #expect(remaining < count * size / 8 + (8 << 20) + (32 << 20))
        for index in stride(from: 0, to: count, by: 8) { PixelMemory.deallocate(blocks[index]) }
        others.forEach { free($0) }
    }

    private func region(_ number: UInt, byteCount: Int) -> MemoryRegion {
        MemoryRegion(address: number << 32, byteCount: byteCount)
    }

    @Test("L12 at most 4 MiB of released regions are kept, the latest", arguments: [-1, 0, 1])
    func boundedSize(beyond: Int) {
        let half = 2 << 20
        var recent = RecentRegions()
        #expect(recent.insert(region(1, byteCount: half)).isEmpty)
        let surplus = recent.insert(region(2, byteCount: half + beyond))
        #expect(surplus == (beyond > 0 ? [region(1, byteCount: half)] : []))
        #expect(recent.byteCount == (beyond > 0 ? half + 1 : 2 * half + beyond))
        #expect(recent.insert(region(3, byteCount: 2 * half + 1)) == [region(3, byteCount: 2 * half + 1)])
        #expect(recent.removeAll().count == (beyond > 0 ? 1 : 2) && recent.byteCount == 0)
    }

    @Test("L12 at most 64 released regions are kept") func boundedCount() {
        var recent = RecentRegions()
        for number in 1...64 { #expect(recent.insert(region(UInt(number), byteCount: 4_096)).isEmpty) }
        #expect(recent.insert(region(65, byteCount: 4_096)) == [region(1, byteCount: 4_096)])
        #expect(recent.byteCount == 64 * 4_096)
    }

    @Test("L12 the smallest released region that is large enough, and at most twice as large, is used again")
    func reuse() {
        var recent = RecentRegions()
        for (number, byteCount) in [(1, 100), (2, 300), (3, 200)] {
            _ = recent.insert(region(UInt(number), byteCount: byteCount))
        }
        #expect(recent.remove(for: 301) == nil)
        #expect(recent.remove(for: 150) == region(3, byteCount: 200))
        #expect(recent.remove(for: 149) == nil && recent.byteCount == 400)
        #expect(recent.remove(for: 150) == region(2, byteCount: 300))
        #expect(recent.remove(for: 100) == region(1, byteCount: 100) && recent.byteCount == 0)
    }

    @Test(
        "L12 memory of any size is writable to its end",
        arguments: [0, 1, 32_767, 32_768, 40_000, 4 << 20, (4 << 20) + 1]
    )
    func sizes(byteCount: Int) throws {
        for _ in 0..<3 {
            let block = try allocate(byteCount)
            #expect(UInt(bitPattern: block.memory) % 64 == 0)
            PixelMemory.deallocate(block)
        }
    }

    @Test("F07 more memory than there are addresses is refused") func tooMuch() {
        for byteCount in [1 << 50, 1 << 60, Int.max] { #expect(PixelMemory.allocate(byteCount: byteCount) == nil) }
    }

    @Test("L12 threads that allocate at the same time have memory of their own") func threads() async throws {
        await withTaskGroup(of: Bool.self) { group in
            for task in 0..<8 {
                group.addTask {
                    (0..<400).allSatisfy { step in
                        let byteCount = 33_000 + (task * 7_919 + step * 104_729) % 600_000
                        guard let block = PixelMemory.allocate(byteCount: byteCount) else { return false }
                        defer { PixelMemory.deallocate(block) }
                        memset(block.memory, Int32(task), byteCount)
                        let bytes = UnsafeRawBufferPointer(start: block.memory, count: byteCount)
                        return bytes[0] == task && bytes[byteCount / 2] == task && bytes[byteCount - 1] == task
                    }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}

private let isSanitized = dlsym(nil, "__asan_init") != nil
