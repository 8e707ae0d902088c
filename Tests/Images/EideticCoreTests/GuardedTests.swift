import EideticCore
import EideticTestSupport
import Glibc
import Testing

@Suite("Guarded", .timeLimit(.minutes(1)))
struct GuardedTests {
    private final class SharedState: Sendable {
        let counter = Guarded((count: 0, active: 0, maximum: 0))
        let start = Gate()
    }

    @Test("B03 with more threads than processors, one at a time holds the lock, and none sleeps for ever")
    func excludes() async {
        let state = SharedState()
        let ended = Guarded(0)
        await withCheckedContinuation { continuation in
            for _ in 0..<16 {
                Thread.start(name: "guard") {
                    state.start.block()
                    for _ in 0..<5_000 { Self.enter(state) }
                    let last = ended.withLock {
                        $0 += 1; return $0 == 16
                    }
                    if last { continuation.resume() }
                }
            }
            state.start.open()
        }
        let result = state.counter.withLock { $0 }
        #expect(result.count == 80_000 && result.maximum == 1)
    }

    private static func enter(_ state: SharedState) {
        state.counter.withLock { state in
            state.active += 1
            state.maximum = max(state.maximum, state.active)
            // Sometimes other threads come while the lock is held, and sleep.
            if state.count % 50 == 0 { sched_yield() }
            state.count += 1
            state.active -= 1
        }
    }

    private struct Wide { var value: SIMD8<Double> = .zero }

    @Test("B03 the value is aligned as its type requires, and is released with the lock", arguments: [1, 8, 64, 128])
    func alignment(_ alignment: Int) {
        weak var held: SharedState?
        do {
            let guarded = Guarded((Wide(), SharedState()), alignment: alignment)
            let address = guarded.withLock { value in
                held = value.1
                value.0.value[7] = 7
                return withUnsafePointer(to: &value.0) { UInt(bitPattern: $0) }
            }
            #expect(address % UInt(MemoryLayout<Wide>.alignment) == 0)
            #expect(guarded.withLock { $0.0.value[7] } == 7 && held != nil)
        }
        #expect(held == nil)
    }

    @Test("B03 with a larger alignment, values have cache lines of their own")
    func ownLines() {
        final class Owner: Sendable { let value = Guarded(0, alignment: 128) }
        let owners = (0..<8).map { _ in Owner() }
        let addresses = owners.map {
            $0.value.withLock { value in withUnsafePointer(to: &value) { UInt(bitPattern: $0) } }
        }
        #expect(Set(addresses.map { $0 / 128 }).count == 8)
        // Each is at the same distance from a multiple of 128: the size of its lock.
        #expect(Set(addresses.map { $0 % 128 }).count == 1)
    }
}
