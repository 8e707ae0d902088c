import EideticCore
import Testing

@Suite("Page-aligned buffer")
struct PageAlignedBufferTests {
    @Test("elements are preserved while the buffer grows")
    func growth() {
        var numbers = PageAlignedBuffer<UInt32>(repeating: 7, count: 3)
        for number in 0..<100_000 { numbers.append(UInt32(number)) }
        #expect(numbers.count == 100_003)
        #expect(numbers.prefix(4).elementsEqual([7, 7, 7, 0]))
        #expect(numbers.dropFirst(3).enumerated().allSatisfy { $0.offset == Int($0.element) })
    }

    @Test("a copy is independent")
    func copies() {
        var numbers = PageAlignedBuffer<UInt32>()
        for number in 0..<10 { numbers.append(UInt32(number)) }
        var copy = numbers
        copy[0] = 99
        copy.append(10)
        numbers[1] = 98
        #expect(Array(numbers) == [0, 98] + Array(2..<10))
        #expect(Array(copy) == [99, 1] + Array(2...10))
        // An element beyond the end of one copy is not visible in the other.
        let short = numbers
        numbers.append(97)
        #expect(short.count == 10)
        #expect(numbers.last == 97)
    }
}
