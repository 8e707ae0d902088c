import EideticCore
import Testing

@Suite("Heap of deadlines")
struct DeadlineHeapTests {
    @Test("B01 deadlines come in the order of their times, none before it, and each as often as it was inserted")
    func order() {
        var heap = DeadlineHeap()
        for number in 0..<100 as Range<UInt64> { heap.insert(number, at: .seconds(Int(number * 37 % 100))) }
        heap.insert(7, at: .seconds(200))
        #expect(heap.count == 101 && heap.first?.time == .zero)
        let early = [heap.pop(at: .zero), heap.pop(at: .zero)]
        #expect(early == [0, nil])
        heap.removeFirst()
        let rest = Array(sequence(state: heap) { $0.pop(at: .seconds(200)) })
        #expect(rest.dropLast().map { $0 * 37 % 100 } == Array(2..<100) && rest.last == 7)
    }
}
