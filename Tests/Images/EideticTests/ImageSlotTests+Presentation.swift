import Eidetic
import EideticTestSupport
import EideticViews
import Testing

// The placeholder, the failure image, the transition, the indicator, and the image of another size.
extension ImageSlotTests {
    @Test("L06 a kept image, a delayed placeholder and the failure image")
    func placeholders() async throws {
        let fixture = try await PipelineFixture(), good = try fixture.serve()
        let bad = ImageRequest(fixture.server.url + "/missing.png")
        let slot = makeSlot(fixture.pipeline)
        _ = await load(good, in: slot, .init(placeholder: try placeholder(), keepsCurrentImage: true))
        #expect(display.images == [.image(small, hasTransition: false)])
        _ = await load(bad, in: slot, .init(placeholder: try placeholder(), delaysPlaceholder: true))
        #expect(display.images.dropFirst() == [.image(one, hasTransition: false)])
        guard case .failed(let error) = slot.state else { Issue.record("\(slot.state)"); return }
        #expect(error.httpStatus == 404)
    }

    @Test("L06 setsImage off leaves it to the completion to show the image")
    func avoidAutoSet() async throws {
        let fixture = try await PipelineFixture(), request = try fixture.serve()
        let slot = makeSlot(fixture.pipeline)
        let result = await load(request, in: slot, .init(keepsCurrentImage: true, setsImage: false))
        #expect(try result.get().image.size == small)
        #expect(display.images.isEmpty)
    }

    @Test("L06 completesAfterTransition: the completion comes after the transition")
    func completesAfterTransition() async throws {
        let fixture = try await PipelineFixture(), request = try fixture.serve()
        let slot = makeSlot(fixture.pipeline)
        var completions = 0
        slot.load(request, presentation: .init(transition: .crossFade(), completesAfterTransition: true)) { _ in
            completions += 1
        }
        try await eventually("the small image is displayed") {
            display.images.last == .image(small, hasTransition: true)
        }
        #expect(completions == 0)
        display.finishTransitions()
        #expect(completions == 1)
    }

    @Test("L16 the indicator is shown, filled and hidden")
    func indicator() async throws {
        let fixture = try await PipelineFixture(), request = try fixture.serve(width: 300, height: 300)
        let slot = makeSlot(fixture.pipeline)
        _ = await load(request, in: slot, .init(indicator: .progress))
        let indicators = display.history.filter { if case .indicator = $0 { true } else { false } }
        #expect(indicators.first == .indicator(.progress(nil)))
        #expect(indicators.contains(.indicator(.progress(1))))
        #expect(indicators.last == .indicator(nil))
    }

    @Test("L16 without the request for it no indicator is shown")
    func noIndicator() async throws {
        let fixture = try await PipelineFixture(), request = try fixture.serve(width: 300, height: 300)
        let slot = makeSlot(fixture.pipeline)
        _ = await load(request, in: slot)
        let shown = display.history.filter { if case .indicator(.some) = $0 { true } else { false } }
        #expect(shown.isEmpty)
        #expect(display.images.last == .image(PixelSize(width: 300, height: 300), hasTransition: false))
    }

    @Test("L23 a slot shows the image in memory of another size first")
    func preview() async throws {
        let fixture = try await PipelineFixture(), full = try fixture.serve()
        let thumbnail = full.with(rendering: .init(size: PixelSize(width: 16, height: 16)))
        _ = try await fixture.pipeline.image(for: thumbnail)
        let slot = makeSlot(fixture.pipeline)
        _ = await load(full, in: slot, .init(placeholder: try placeholder(), usesCachedPreview: true))
        let preview = PixelSize(width: 16, height: 12)
        #expect(display.images == [.image(preview, hasTransition: false), .image(small, hasTransition: false)])
    }

    @Test("L23 a slot shows the placeholder first if no image of the URL is cached")
    func noPreview() async throws {
        let fixture = try await PipelineFixture(), full = try fixture.serve(), other = try fixture.serve("b.png")
        _ = try await fixture.pipeline.image(for: other)
        let slot = makeSlot(fixture.pipeline)
        _ = await load(full, in: slot, .init(placeholder: try placeholder(), usesCachedPreview: true))
        #expect(display.images == [.image(one, hasTransition: false), .image(small, hasTransition: false)])
    }
}
