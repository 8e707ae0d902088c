import EideticTestSupport
import EideticLifecycle
import Testing

@Suite("Invariants under random events")
struct InvariantTests {
    static let steps = Torture.repetitions(20_000, full: 1_000_000)

    @Test("B01 B02 B04 B06 the invariants hold in every lifecycle", arguments: RandomLifecycle.Kind.allCases)
    func rulesHold(_ kind: RandomLifecycle.Kind) {
        var lifecycle = RandomLifecycle(kind, seed: 0xe1de_71c0)
        for step in 0..<Self.steps {
            if let violation = lifecycle.step() {
                Issue.record("\(violation) at step \(step): \(lifecycle.history.suffix(12))")
                return
            }
        }
        #expect(lifecycle.suspensions > 0 || kind != .supervised)
        #expect(lifecycle.exits > 0)
    }
}
