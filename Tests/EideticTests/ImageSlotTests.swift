import Eidetic
import EideticTestSupport
import Testing

/// A view that remembers what it was told to show.
@MainActor
final class RecordingDisplay: ImageDisplay {
    enum Shown: Equatable {
        case nothing
        case image(PixelSize, hasTransition: Bool)
        case indicator(ImageIndicator?)
    }

    private(set) var history: [Shown] = []
    private var transitions: [@MainActor () -> Void] = []

    var images: [Shown] {
        seen.filter { if case .indicator = $0 { false } else { true } }
    }

    func display(_ image: Image?, transition: ImageTransition?, completion: @escaping @MainActor () -> Void) {
        seen.append(image.map { .image($0.size, hasTransition: transition != nil) } ?? .nothing)
        transition == nil ? completion() : transitions.append(completion)
    }

    func displayIndicator(_ indicator: ImageIndicator?) { seen.append(.indicator(indicator)) }

    /// Lets the transitions that were begun come to their end.
    func finishTransitions() {
        let ending = transitions
        transitions = []
        for end in ending { end() }
    }
}

/// A view that remembers whether what it was to show was decoded.
@MainActor
private final class DecodingRecordingDisplay: ImageDisplay {
    private(set) var decodedStates: [Bool] = []

    func display(_ image: Image?, transition: ImageTransition?, completion: @escaping @MainActor () -> Void) {
        if let image { isDecoded.append(image.isDecoded) }
        completion()
    }
}

@MainActor
@Suite("Image slot", .timeLimit(.minutes(2)), .enabled(if: Nginx.isInstalled, "nginx is not installed"))
struct ImageSlotTests {
    let display = RecordingDisplay()
    let small = PixelSize(width: 64, height: 48)

    private func placeholder() throws -> Image {
        let pixels = try TestImage.pixels(width: 1, height: 1)
        return Image(frames: [Image.Frame(pixels: pixels)], format: .png, sourceSize: pixels.size)
    }

    /// Sets the slot and waits for its completion.
    private func load(
        _ slot: ImageSlot,
        in request: ImageRequest,
        presentation: ImageSlot.Presentation = .init()
    ) async -> Result<ImageResponse, EideticError> {
        await withCheckedContinuation { continuation in
            slot.load(request, presentation: presentation) { continuation.resume(returning: $0) }
        }
    }

    @Test("L01 the placeholder is seen, then the picture with its transition")
    func shows() async throws {
        let fixture = try await PipelineFixture(), request = try fixture.put()
        let slot = ImageSlot(display: display, pipeline: fixture.pipeline, gate: DisplayGate())
        _ = await set(slot, request, .init(placeholder: try placeholder(), transition: .crossFade()))
        let one = PixelSize(width: 1, height: 1)
        #expect(display.images == [.image(one, hasTransition: false), .image(small, hasTransition: true)])
        guard case .shown(.network) = slot.state else { Issue.record("\(slot.state)"); return }
    }

    @Test("L15 a picture in memory is seen before the call returns, without placeholder or transition")
    func memoryHit() async throws {
        let fixture = try await PipelineFixture(), request = try fixture.put()
        _ = try await fixture.pipeline.image(for: request)
        let slot = ImageSlot(display: display, pipeline: fixture.pipeline, gate: DisplayGate())
        var completions = 0
        slot.load(request, presentation: .init(placeholder: try placeholder(), transition: .crossFade())) { _ in
            completions += 1
        }
        #expect(completions == 1)
        #expect(display.images == [.image(small, hasTransition: false)])
        let forced = request.with(options: .forceTransition)
        slot.load(forced, presentation: .init(transition: .crossFade()))
        #expect(display.images.last == .image(small, hasTransition: true))
    }

    @Test("L14 a new load cancels the earlier one: its completion comes first, its picture never")
    func reuse() async throws {
        let fixture = try await PipelineFixture(.init(server: "location /slow/ { limit_rate 2k; }"))
        let slow = try fixture.put("slow/a.png", width: 300, height: 300), fast = try fixture.put()
        let slot = ImageSlot(display: display, pipeline: fixture.pipeline, gate: DisplayGate())
        var order: [String] = []
        slot.load(slow) { result in order.append((try? result.get()) == nil ? "slow cancelled" : "slow shown") }
        await withCheckedContinuation { continuation in
            slot.load(fast) { _ in
                order.append("fast")
                continuation.resume()
            }
        }
        #expect(order == ["slow cancelled", "fast"])
        #expect(display.images == [.nothing, .nothing, .image(small, hasTransition: false)])
    }

    @Test("L14 the same request again goes on also where memory has a picture that the request does not ask for")
    func repeatedWithoutCache() async throws {
        let png = try TestImage.png(width: 64, height: 48), gate = Gate(), count = Counter()
        let server = try ScriptedOrigin { _ in
            count.increment()
            return (count.value == 1 ? [] : [.wait(gate)]) + [.response(200, headers: [:], body: png)]
        }
        let pipeline = ImagePipeline(.init()), request = try ImageRequest(server.url + "/a", options: .fromLoaderOnly)
        _ = try await pipeline.image(for: request)
        let slot = ImageSlot(display: display, pipeline: pipeline, gate: DisplayGate())
        slot.load(request)
        await server.waitForRequests(count: 2)
        slot.load(request)
        async let end = set(slot, request)
        gate.open()
        #expect(try await end.get().source == .network)
        #expect(server.requests.count == 2)
    }

    @Test("L06 L15 what a slot shows is decoded before, also the cached picture of a refresh")
    func showsDecoded() async throws {
        let fixture = try await PipelineFixture(),
            request = try fixture.put(options: [.refreshCached, .waitStoreCache])
        _ = try await fixture.pipeline.image(for: request)
        var configuration = ImagePipeline.Configuration(diskCache: fixture.pipeline.configuration.diskCache)
        configuration.requestProcessors = [{ $0.with(options: $0.options.union(.avoidDecode)) }]
        let display = DecodingRecordingDisplay()
        let slot = ImageSlot(display: display, pipeline: ImagePipeline(configuration), gate: DisplayGate())
        _ = await set(slot, request)
        #expect(display.decodedStates == [true])
    }

    @Test("L14 the same request again goes on: one download, nothing flickers, the earlier completion says cancelled")
    func repeated() async throws {
        let fixture = try await PipelineFixture(.init(server: "location /slow/ { limit_rate 50k; }"))
        let request = try fixture.put("slow/a.png", width: 150, height: 150)
        let slot = ImageSlot(display: display, pipeline: fixture.pipeline, gate: DisplayGate())
        let presentation = ImageSlot.Presentation(placeholder: try placeholder(), indicator: .progress)
        var order: [String] = []
        var received = 0
        slot.load(request, presentation: presentation) {
            received = $0.received
        } completion: {
            order.append("first \($0.code)")
        }
        await waitUntil { received > 0 }
        let historyBefore = display.history
        for turn in 0..<100 {
            slot.load(request, presentation: presentation) { order.append("\(turn) \($0.code)") }
            if turn % 10 == 0 { await Task.yield() }
        }
        #expect(display.images == [.image(PixelSize(width: 1, height: 1), hasTransition: false)])
        #expect(
            !display.seen.dropFirst(historyBefore.count).contains(.indicator(.progress(nil))),
            "the ring began anew"
        )
        let transitionOnly = ImageSlot.Presentation(failureImage: nil, transition: .crossFade())
        let result = await set(slot, request, transitionOnly)
        #expect(order == ["first cancelled"] + (0..<100).map { "\($0) cancelled" })
        #expect(try result.get().source == .network)
        // The last one's presentation counts: no placeholder, and a transition.
        let imageSize = PixelSize(width: 150, height: 150)
        #expect(display.images.dropFirst() == [.nothing, .image(imageSize, hasTransition: true)])
        #expect(try await fixture.server.requests().count == 1)
        #expect(fixture.pipeline.statistics.cancelled == 0)
    }

    @Test("L14 a load that was taken over ends by the last of its callers alone")
    func takenOver() async throws {
        let fixture = try await PipelineFixture(.init(server: "location /slow/ { limit_rate 500; }"))
        let request = try fixture.put("slow/a.png", width: 300, height: 300), next = try fixture.put()
        let slot = ImageSlot(display: display, pipeline: fixture.pipeline, gate: DisplayGate())
        var order: [String] = []
        slot.load(request) { order.append("1 \($0.code)") }
        let firstTask = try #require(slot.load)
        // The completion gives the slot another request, in place of the one that is being set.
        slot.load(request) { _ in
            order.append("2")
            slot.load(next) { order.append("3 \($0.code)") }
        }
        #expect(order == ["1 cancelled"])
        firstTask.cancel()
        firstTask.priority = .high
        #expect(slot.load?.result == nil && slot.load?.priority == .normal)
        slot.load(request) { order.append("4 \($0.code)") }
        await waitUntil { order.count == 4 }
        #expect(order == ["1 cancelled", "2", "4 cancelled", "3 shown"])
        #expect(display.images.last == .image(small, hasTransition: false))
    }

    @Test("L14 a fresh signature is loaded in place of the expired one that is under way")
    func freshSignature() async throws {
        let gate = Gate(), png = try TestImage.png(width: 64, height: 48)
        let server = try ScriptedOrigin { request in
            [.wait(gate), request.path.hasSuffix("old") ? .response(403) : .response(200, headers: [:], body: png)]
        }
        let requests = try ["old", "new"].map { signature in
            ImageRequest(try ImageResource(url: "\(server.url)/a.png?sig=\(signature)"), ignoredQueryItems: ["sig"])
        }
        #expect(requests[0] == requests[1])
        let slot = ImageSlot(display: display, pipeline: ImagePipeline(.init()), gate: DisplayGate())
        var order: [String] = []
        slot.load(requests[0]) { order.append("old \($0.code)") }
        await server.waitForRequests(count: 1)
        slot.load(requests[1]) { order.append("new \($0.code)") }
        gate.open()
        await waitUntil { order.count == 2 }
        #expect(order == ["old cancelled", "new shown"])
        #expect(server.requests.map(\.path) == ["/a.png?sig=old", "/a.png?sig=new"])
    }

    @Test("L14 an equal request with another time-out, other mirrors or files begins anew")
    func otherOrigins() throws {
        let gate = Gate(), server = try ScriptedOrigin { _ in [.wait(gate)] }
        let files = try ["a", "b", "c"].map { try FetchRequest(url: "\(server.url)/\($0).png") }
        var slowRequest = files[0]
        slowRequest.timeout = .seconds(60)
        let resources: [ImageResource] = [
            .remote(files[0]), .remote(slowRequest), .firstOf([files[0], files[1]]), .firstOf([files[0], files[2]]),
            .candidates([ImageCandidate(files[0], size: small)]),
            .candidates([ImageCandidate(files[0], size: PixelSize(width: 8, height: 6))]), .remote(files[0]),
        ]
        let slot = ImageSlot(display: display, pipeline: ImagePipeline(.init()), gate: DisplayGate())
        let requests = resources.map { ImageRequest($0) }
        for (index, request) in requests.enumerated() {
            #expect(request == requests[0])
            slot.load(request)
            slot.load(request)
            // The place is made empty at each beginning, and only then.
            #expect(display.images.count == index + 1)
        }
    }

    @Test("L14 a load that goes on is as urgent as its last caller wants")
    func urgency() throws {
        let gate = Gate(), origin = try ScriptedOrigin { _ in [.wait(gate)] }
        let request = try ImageRequest(origin.url + "/a.png")
        let slot = ImageSlot(display: display, pipeline: ImagePipeline(.init()), gate: DisplayGate())
        for priority in [LoadPriority.low, .high, .normal] {
            slot.load(request.with(priority: priority))
            #expect(slot.load?.priority == priority)
            #expect(slot.load?.request.priority == priority)
            #expect(slot.request?.priority == priority)
        }
        #expect(display.images == [.nothing])
    }

    @Test("L11 L14 a cached picture that is seen stays for the next caller, whatever its placeholder")
    func cachedStays() async throws {
        let fixture = try await PipelineFixture(),
            request = try fixture.put(options: [.refreshCached, .waitStoreCache])
        _ = try await fixture.pipeline.image(for: request)
        let slot = ImageSlot(display: display, pipeline: fixture.pipeline, gate: DisplayGate())
        slot.load(request)
        fixture.pipeline.removeAllFromMemory()
        let result = await set(slot, request, .init(placeholder: try placeholder(), indicator: .spinner))
        guard case .unchanged? = try result.get().revalidation else { Issue.record("\(result)"); return }
        #expect(display.images == [.image(small, hasTransition: false)])
        #expect(display.seen.suffix(2) == [.indicator(.spinner), .indicator(nil)])
    }

    @Test("L14 one thousand reuses with cancels and deaths in between: only the last picture is seen")
    func storm() async throws {
        let fixture = try await PipelineFixture()
        let requests = try (0..<10).map { try fixture.put("\($0).png", width: 40 + $0, height: 40) }
        var slot: ImageSlot? = ImageSlot(display: display, pipeline: fixture.pipeline, gate: DisplayGate())
        var completions = 0
        for turn in 0..<1_000 {
            slot?.load(requests[turn % 9]) { _ in completions += 1 }
            if turn % 7 == 0 { slot?.cancel() }
            if turn % 31 == 0 { slot = ImageSlot(display: display, pipeline: fixture.pipeline, gate: DisplayGate()) }
            if turn % 5 == 0 { await Task.yield() }
        }
        let last = try #require(slot)
        _ = await set(last, requests[9])
        await waitUntil { completions == 1_000 }
        #expect(display.images.last == .image(PixelSize(width: 49, height: 40), hasTransition: false))
    }

    @Test("L06 keepCurrentImage, delayPlaceholder and the failure's picture")
    func placeholders() async throws {
        let fixture = try await PipelineFixture(), good = try fixture.put()
        let bad = try ImageRequest(fixture.server.url + "/missing.png")
        let slot = ImageSlot(display: display, pipeline: fixture.pipeline, gate: DisplayGate())
        _ = await set(slot, good.with(options: .keepCurrentImage), .init(placeholder: try placeholder()))
        #expect(display.images == [.image(small, hasTransition: false)])
        _ = await set(slot, bad.with(options: .delayPlaceholder), .init(placeholder: try placeholder()))
        let one = PixelSize(width: 1, height: 1)
        #expect(display.images.dropFirst() == [.image(one, hasTransition: false)])
        guard case .failed(let error) = slot.state else { Issue.record("\(slot.state)"); return }
        #expect(error.httpStatus == 404)
    }

    @Test("L06 avoidAutoSetImage leaves showing to the completion")
    func avoidAutoSet() async throws {
        let fixture = try await PipelineFixture(),
            request = try fixture.put(options: [.avoidAutoSetImage, .keepCurrentImage])
        let slot = ImageSlot(display: display, pipeline: fixture.pipeline, gate: DisplayGate())
        let result = await set(slot, request)
        #expect(try result.get().image.size == small)
        #expect(display.images.isEmpty)
    }

    @Test("L06 waitTransition: the completion comes after the transition")
    func waitTransition() async throws {
        let fixture = try await PipelineFixture(), request = try fixture.put(options: .waitTransition)
        let slot = ImageSlot(display: display, pipeline: fixture.pipeline, gate: DisplayGate())
        var completions = 0
        slot.load(request, presentation: .init(transition: .crossFade())) { _ in completions += 1 }
        await waitUntil { display.images.last == .image(small, hasTransition: true) }
        #expect(completions == 0)
        display.finishTransitions()
        #expect(completions == 1)
    }

    @Test("L16 the indicator begins, fills and goes")
    func indicator() async throws {
        let fixture = try await PipelineFixture(), request = try fixture.put(width: 300, height: 300)
        let slot = ImageSlot(display: display, pipeline: fixture.pipeline, gate: DisplayGate())
        _ = await set(slot, request, .init(indicator: .progress))
        let indicators = display.seen.filter { if case .indicator = $0 { true } else { false } }
        #expect(indicators.first == .indicator(.progress(nil)))
        #expect(indicators.contains(.indicator(.progress(1))))
        #expect(indicators.last == .indicator(nil))
    }

    @Test("L23 a slot starts from the picture that is in memory in another size")
    func preview() async throws {
        let fixture = try await PipelineFixture(), full = try fixture.put()
        let thumbnail = full.with(rendering: .init(size: PixelSize(width: 16, height: 16)))
        _ = try await fixture.pipeline.image(for: thumbnail)
        let slot = ImageSlot(display: display, pipeline: fixture.pipeline, gate: DisplayGate())
        _ = await set(slot, full, .init(placeholder: try placeholder(), startsFromCache: true))
        let preview = PixelSize(width: 16, height: 12)
        #expect(display.images == [.image(preview, hasTransition: false), .image(small, hasTransition: false)])
    }

    @Test("L25 in the background nothing is drawn, and on return the last state once")
    func background() async throws {
        let fixture = try await PipelineFixture(), gate = DisplayGate()
        let one = try fixture.put("1.png", width: 10, height: 10), two = try fixture.put("2.png", width: 20, height: 20)
        let slot = ImageSlot(display: display, pipeline: fixture.pipeline, gate: gate)
        gate.hold()
        _ = await set(slot, one, .init(transition: .crossFade()))
        _ = await set(slot, two, .init(transition: .crossFade()))
        #expect(display.history.isEmpty)
        gate.release()
        #expect(display.images == [.image(PixelSize(width: 20, height: 20), hasTransition: false)])
    }

    @Test("L17 callbacks may call back: a completion that gives its slot the next request")
    func reentrancy() async throws {
        let fixture = try await PipelineFixture()
        let one = try fixture.put("1.png", width: 10, height: 10), two = try fixture.put("2.png", width: 20, height: 20)
        _ = try await (fixture.pipeline.image(for: one), fixture.pipeline.image(for: two))
        let slot = ImageSlot(display: display, pipeline: fixture.pipeline, gate: DisplayGate())
        var completions: [Int] = []
        slot.load(one) { _ in
            completions.append(1)
            slot.load(two) { _ in completions.append(2) }
        }
        #expect(completions == [1, 2])
        #expect(display.images.last == .image(PixelSize(width: 20, height: 20), hasTransition: false))
        #expect(slot.request == two)
    }
}

extension Result<ImageResponse, EideticError> {
    /// "shown", or the error's code.
    fileprivate var code: String {
        switch self {
        case .success: "shown"
        case .failure(let error): "\(error.code)"
        }
    }
}
