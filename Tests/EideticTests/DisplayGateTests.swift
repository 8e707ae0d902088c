import Eidetic
import EideticTestSupport
import Testing

@MainActor
@Suite("Display gate", .timeLimit(.minutes(2)), .needsNginx)
struct DisplayGateTests {
    /// A display whose drawing makes something else happen.
    private final class ChainedDisplay: ImageDisplay {
        var widths: [Int] = []
        var onDisplay: @MainActor () -> Void = {}

        func display(_ image: Image?, transition: ImageTransition?, completion: @escaping @MainActor () -> Void) {
            widths.append(image?.size.width ?? 0)
            onDisplay()
            completion()
        }
    }

    private func show(_ slot: ImageSlot, in request: ImageRequest) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            slot.load(request) { _ in continuation.resume() }
        }
    }

    @Test("L25 what is drawn during the return is not overwritten by what was held back")
    func newerThanHeld() async throws {
        let fixture = try await PipelineFixture(), gate = DisplayGate()
        let old = try fixture.put("1.png", width: 10, height: 10), new = try fixture.put("2.png", width: 20, height: 20)
        _ = try await fixture.pipeline.image(for: new)
        let first = ChainedDisplay(), second = ChainedDisplay()
        let slots = [first, second].map { ImageSlot(display: $0, pipeline: fixture.pipeline, gate: gate) }
        gate.hold()
        for slot in slots { await show(slot, old) }
        first.onDisplay = { slots[1].load(new) }
        gate.release()
        #expect(first.widths == [10])
        #expect(second.widths == [20])
    }

    @Test("L25 what is held again during the return stays held")
    func heldAgain() async throws {
        let fixture = try await PipelineFixture(), gate = DisplayGate()
        let request = try fixture.put("1.png", width: 10, height: 10)
        let first = ChainedDisplay(), second = ChainedDisplay()
        let slots = [first, second].map { ImageSlot(display: $0, pipeline: fixture.pipeline, gate: gate) }
        gate.hold()
        for slot in slots { await show(slot, request) }
        first.onDisplay = { gate.hold() }
        gate.release()
        #expect(first.widths == [10] && second.widths.isEmpty)
        gate.release()
        #expect(first.widths == [10] && second.widths == [10])
    }
}
