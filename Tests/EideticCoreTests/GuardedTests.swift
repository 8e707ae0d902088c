import EideticCore
import EideticTestSupport
import Glibc
import Testing

@Suite("A value behind a lock", .timeLimit(.minutes(1)))
struct GuardedTests {
    private final class SharedState: Sendable {
        let counter = Guarded((count: 0, inside: 0, most: 0))
        let start = Gate()
    }

    @Test("B03 of threads that want it, more than there are processors, one at a time has it, and none is left asleep")
    func excludes() async {
        let shared = SharedState()
        let ended = Guarded(0)
        await withCheckedContinuation { continuation in
            for _ in 0..<16 {
                Thread.start(name: "guard") {
                    shared.start.block()
                    for _ in 0..<5_000 { Self.enter(shared) }
                    let last = ended.withLock {
                        $0 += 1; return $0 == 16
                    }
                    if last { continuation.resume() }
                }
            }
            shared.start.open()
        }
        let seen = shared.counter.withLock { $0 }
        #expect(seen.count == 80_000 && seen.most == 1)
    }

    private static func enter(_ shared: SharedState) {
        shared.counter.withLock { state in
            state.inside += 1
            state.most = max(state.most, state.inside)
            // Now and then others come while it is held, and go to sleep.
            if state.count % 50 == 0 { sched_yield() }
            state.count += 1
            state.inside -= 1
        }
    }

    private struct Wide { var value: SIMD8<Double> = .zero }

    @Test("B03 what it guards stands where its type wants it, and is let go with it", arguments: [1, 8, 64, 128])
    func alignment(_ alignment: Int) {
        weak var held: SharedState?
        do {
            let guarded = Guarded((Wide(), SharedState()), alignment: alignment)
            let place = guarded.withLock { value in
                held = value.1
                value.0.value[7] = 7
                return withUnsafePointer(to: &value.0) { UInt(bitPattern: $0) }
            }
            #expect(place % UInt(MemoryLayout<Wide>.alignment) == 0)
            #expect(guarded.withLock { $0.0.value[7] } == 7 && held != nil)
        }
        #expect(held == nil)
    }

    @Test("B03 what many threads use side by side has cache lines of its own")
    func ownLines() {
        final class Owner: Sendable { let value = Guarded(0, alignment: 128) }
        let owners = (0..<8).map { _ in Owner() }
        let places = owners.map {
            $0.value.withLock { value in withUnsafePointer(to: &value) { UInt(bitPattern: $0) } }
        }
        #expect(Set(places.map { $0 / 128 }).count == 8)
        // Each of them as far behind a multiple of it as the others: as far as its lock is large.
        #expect(Set(places.map { $0 % 128 }).count == 1)
    }
}
