import Eidetic
import EideticTestSupport
import EideticViews
import Testing

@MainActor
@Suite("Display gate", .timeLimit(.minutes(2)), .needsNginx)
struct DisplayGateTests {
    /// A display that calls a function when it draws.
    private final class ChainedDisplay: ImageDisplay {
        var widths: [Int] = []
        var onDisplay: @MainActor () -> Void = {}

        func display(_ image: Image?, transition: ImageTransition?, completion: @escaping @MainActor () -> Void) {
            widths.append(image?.size.width ?? 0)
            onDisplay()
            completion()
        }
    }

    private func show(_ request: ImageRequest, in slot: ImageSlot) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            slot.load(request) { _ in continuation.resume() }
        }
    }

    @Test("L25 an image drawn during the release is not overwritten by one that was held back")
    func newerThanHeld() async throws {
        let fixture = try await PipelineFixture(), gate = DisplayGate()
        let old = try fixture.serve("1.png", width: 10, height: 10),
            new = try fixture.serve("2.png", width: 20, height: 20)
        _ = try await fixture.pipeline.image(for: new)
        let first = ChainedDisplay(), second = ChainedDisplay()
        let slots = [first, second].map { ImageSlot(display: $0, pipeline: fixture.pipeline, gate: gate) }
        gate.hold()
        for slot in slots { await show(old, in: slot) }
        first.onDisplay = { slots[1].load(new) }
        gate.release()
        #expect(first.widths == [10])
        #expect(second.widths == [20])
    }

    @Test("L25 drawing that is held again during the release stays held")
    func heldAgain() async throws {
        let fixture = try await PipelineFixture(), gate = DisplayGate()
        let request = try fixture.serve("1.png", width: 10, height: 10)
        let first = ChainedDisplay(), second = ChainedDisplay()
        let slots = [first, second].map { ImageSlot(display: $0, pipeline: fixture.pipeline, gate: gate) }
        gate.hold()
        for slot in slots { await show(request, in: slot) }
        first.onDisplay = { gate.hold() }
        gate.release()
        #expect(first.widths == [10] && second.widths.isEmpty)
        gate.release()
        #expect(first.widths == [10] && second.widths == [10])
    }

    @Test("L25 B21 a snapshot draws what was held back, once, and drawing stays held")
    func snapshot() async throws {
        let fixture = try await PipelineFixture(), gate = DisplayGate()
        let request = try fixture.serve("1.png", width: 10, height: 10), display = ChainedDisplay()
        let slot = ImageSlot(display: display, pipeline: fixture.pipeline, gate: gate)
        var loadCount = 0
        gate.hold()
        gate.load(for: fixture.pipeline) { loadCount += 1 }
        await show(request, in: slot)
        gate.drawForSnapshot()
        #expect(display.widths == [10] && gate.isHeld && loadCount == 0)
        gate.release()
        #expect(display.widths == [10] && loadCount == 1)
    }
}
