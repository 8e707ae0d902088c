import EideticTestSupport
import LifecycleCore
import Testing

@Suite("What holds in every state, under random events")
struct InvariantTests {
    static let steps = Torture.repetitions(20_000, full: 1_000_000)

    @Test("B01 B02 B04 B06 the rules hold in every life", arguments: RandomLifecycle.Kind.allCases)
    func rulesHold(_ kind: RandomLifecycle.Kind) {
        var life = RandomLifecycle(kind, seed: 0xe1de_71c0)
        for step in 0..<Self.steps {
            if let broken = life.step() {
                Issue.record("\(broken) at step \(step): \(life.history.suffix(12))")
                return
            }
        }
        #expect(life.suspensions > 0 || kind != .supervised)
        #expect(life.endings > 0)
    }
}
