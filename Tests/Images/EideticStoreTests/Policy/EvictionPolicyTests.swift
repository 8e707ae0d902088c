import EideticReplay
import EideticStore
import Glibc
import Testing

/// The usage of entries since the policy last read it.
private struct UsageRecorder {
    private var uses: [Int: EntryUsage] = [:]

    mutating func recordHit(inSlot slot: Int, at clock: Double) {
        uses[slot] = EntryUsage(hits: uses[slot, default: .unused].hits + 1, clock: clock)
    }

    mutating func consumeUsage(ofSlot slot: Int) -> EntryUsage { uses.removeValue(forKey: slot) ?? .unused }
}

/// The rule of ``GreedyDual``, implemented with a call for each hit and a linear search.
private struct ReferenceGreedyDual {
    struct Entry {
        var uses: Double
        var weight: Double
        var value: Double
    }

    let useExponent: Double
    let sizeExponent: Double
    var clock = 0.0
    var entries: [Int: Entry] = [:]

    mutating func insert(_ slot: Int, cost: Int) {
        let weight = Double(powf(Float(cost), -Float(sizeExponent)))
        entries[slot] = Entry(uses: 1, weight: weight, value: clock + weight)
    }

    mutating func recordHit(inSlot slot: Int) {
        guard var entry = entries[slot] else { return }
        entry.uses += 1
        entry.value = clock + pow(entry.uses, useExponent) * entry.weight
        entries[slot] = entry
    }

    mutating func evict() -> Double? {
        guard let (slot, entry) = entries.min(by: { $0.value.value < $1.value.value }) else { return nil }
        clock = entry.value
        entries[slot] = nil
        return entry.value
    }
}

@Suite("Eviction policies")
struct EvictionPolicyTests {
    @Test(
        "C01 Greedy-Dual with deferred usage evicts like the reference with immediate usage",
        arguments: [0.0, 0.15, 0.7, 1]
    )
    func matchesReference(sizeExponent: Double) {
        var random = SystemRandomNumberGenerator()
        var policy = GreedyDual(useExponent: 1.5, sizeExponent: sizeExponent, maximumUses: 255, remembersEvicted: false)
        var reference = ReferenceGreedyDual(useExponent: 1.5, sizeExponent: sizeExponent)
        var uses = UsageRecorder()
        var free = Set(0..<200)
        for _ in 0..<5_000 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<3:
                guard let slot = free.randomElement(using: &random) else { continue }
                free.remove(slot)
                _ = uses.consumeUsage(ofSlot: slot)
                let cost = Int.random(in: 1...1_000_000, using: &random)
                policy.insert(slot, hash: UInt64(slot), cost: cost)
                reference.insert(slot, cost: cost)
            case 3..<8:
                guard let slot = reference.entries.keys.randomElement(using: &random) else { continue }
                guard reference.entries[slot]?.uses != 255 else { continue }
                uses.recordHit(inSlot: slot, at: policy.clock)
                reference.recordHit(inSlot: slot)
            case 8:
                guard let slot = reference.entries.keys.randomElement(using: &random) else { continue }
                reference.entries[slot] = nil
                policy.remove(slot)
                free.insert(slot)
            default:
                let value = reference.entries.values.map(\.value).min()
                guard let slot = policy.evict(usage: { uses.consumeUsage(ofSlot: $0) }) else {
                    #expect(value == nil)
                    continue
                }
                #expect(reference.entries[slot]?.value == value)
                reference.entries[slot] = nil
                reference.clock = value ?? 0
                #expect(policy.clock == reference.clock)
                free.insert(slot)
            }
        }
    }

    @Test("C01 an entry that is inserted again after its eviction has its earlier uses")
    func remembersUses() {
        var policy = GreedyDual(useExponent: 1.5, sizeExponent: 0)
        var uses = UsageRecorder()
        for _ in 0..<5 { uses.recordHit(inSlot: 0, at: 0) }
        policy.insert(0, hash: 7, cost: 1)
        // The first entry is evicted when the clock has passed its value.
        for slot in 1..<40 {
            policy.insert(slot, hash: UInt64(100 + slot), cost: 1)
            if policy.evict(usage: { uses.consumeUsage(ofSlot: $0) }) == 0 { break }
        }
        policy.insert(50, hash: 7, cost: 1)
        policy.insert(51, hash: 8, cost: 1)
        var order: [Int] = []
        while let slot = policy.evict(usage: { uses.consumeUsage(ofSlot: $0) }) { order.append(slot) }
        #expect(order.last == 50)
        #expect(order.contains(51))
    }

    @Test("C01 LRU evicts in the order of last use")
    func orderOfUse() {
        var policy = LRU()
        var uses = UsageRecorder()
        for slot in 0..<4 { policy.insert(slot, hash: 0, cost: 1) }
        uses.recordHit(inSlot: 0, at: policy.clock)
        policy.insert(4, hash: 0, cost: 1)
        uses.recordHit(inSlot: 2, at: policy.clock)
        policy.remove(3)
        var order: [Int] = []
        while let slot = policy.evict(usage: { uses.consumeUsage(ofSlot: $0) }) { order.append(slot) }
        #expect(order == [1, 0, 4, 2])
    }

    @Test(
        "C01 a scan does not evict entries that are used",
        arguments: [ReplayPolicy.s3FIFO, .mostBytes, .mostEntries, .greedyDualSizeFrequency]
    )
    func resistsScan(_ replayPolicy: ReplayPolicy) {
        var policy = replayPolicy.makePolicy(capacity: 100)
        var uses = UsageRecorder()
        for slot in 0..<50 { policy.insert(slot, hash: UInt64(slot), cost: 1) }
        for slot in 0..<50 { for _ in 0..<4 { uses.recordHit(inSlot: slot, at: policy.clock) } }
        for slot in 50..<100 { policy.insert(slot, hash: UInt64(slot), cost: 1) }
        for number in 0..<150 {
            guard let slot = policy.evict(usage: { uses.consumeUsage(ofSlot: $0) }) else { break }
            #expect(slot >= 50)
            policy.insert(slot, hash: UInt64(1_000 + number), cost: 1)
        }
    }

    @Test(
        "C01 every policy evicts all entries, each once",
        arguments: [ReplayPolicy.leastRecentlyUsed, .s3FIFO, .mostBytes, .mostEntries, .greedyDualSizeFrequency]
    )
    func evictsAll(_ replayPolicy: ReplayPolicy) {
        var policy = replayPolicy.makePolicy(capacity: 1_000)
        var uses = UsageRecorder()
        for slot in 0..<100 { policy.insert(slot, hash: UInt64(slot), cost: slot) }
        for slot in stride(from: 0, to: 100, by: 3) { uses.recordHit(inSlot: slot, at: policy.clock) }
        policy.remove(10)
        var evicted: Set<Int> = []
        while let slot = policy.evict(usage: { uses.consumeUsage(ofSlot: $0) }) {
            #expect(evicted.insert(slot).inserted)
        }
        #expect(evicted == Set(0..<100).subtracting([10]))
    }
}
