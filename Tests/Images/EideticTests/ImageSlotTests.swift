import Eidetic
import EideticTestSupport
import EideticViews
import Testing

@MainActor
@Suite("Image slot", .timeLimit(.minutes(2)), .enabled(if: Nginx.isInstalled, "nginx is not installed"))
struct ImageSlotTests {
    let display = RecordingDisplay()
    let small = PixelSize(width: 64, height: 48)
    let one = PixelSize(width: 1, height: 1)

    func placeholder(_ size: PixelSize = PixelSize(width: 1, height: 1)) throws -> Image {
        let pixels = try TestImage.pixels(width: size.width, height: size.height)
        return Image(frames: [Image.Frame(pixels: pixels)], format: .png, sourceSize: pixels.size)
    }

    func makeSlot(_ pipeline: ImagePipeline) -> ImageSlot {
        ImageSlot(display: display, pipeline: pipeline, gate: DisplayGate())
    }

    /// Loads an image in the slot, and waits for the completion.
    func load(
        _ request: ImageRequest,
        in slot: ImageSlot,
        _ presentation: ImageSlot.Presentation = .init()
    ) async -> Result<ImageResponse, EideticError> {
        await withCheckedContinuation { continuation in
            slot.load(request, presentation: presentation) { continuation.resume(returning: $0) }
        }
    }

    @Test("L01 the placeholder is shown, then the image with its transition")
    func shows() async throws {
        let fixture = try await PipelineFixture(), request = try fixture.serve()
        let slot = makeSlot(fixture.pipeline)
        _ = await load(request, in: slot, .init(placeholder: try placeholder(), transition: .crossFade()))
        #expect(display.images == [.image(one, hasTransition: false), .image(small, hasTransition: true)])
        guard case .shown(.network) = slot.state else { Issue.record("\(slot.state)"); return }
    }

    @Test("L15 an image in memory is shown before the call returns, without placeholder or transition")
    func memoryHit() async throws {
        let fixture = try await PipelineFixture(), request = try fixture.serve()
        _ = try await fixture.pipeline.image(for: request)
        let slot = makeSlot(fixture.pipeline)
        var completions = 0
        slot.load(request, presentation: .init(placeholder: try placeholder(), transition: .crossFade())) { _ in
            completions += 1
        }
        #expect(completions == 1)
        #expect(display.images == [.image(small, hasTransition: false)])
        slot.load(request, presentation: .init(transition: .crossFade(), transitionsFromMemory: true))
        #expect(display.images.last == .image(small, hasTransition: true))
    }

    @Test(
        "L01 a slot without a URL shows the failure image, else the placeholder, and ends once with invalidURL",
        arguments: [false, true]
    )
    func noURL(hasFailureImage: Bool) throws {
        let slot = ImageSlot(display: display)
        var codes: [EideticError.Code?] = []
        let failure = hasFailureImage ? try placeholder(small) : nil
        slot.load(nil, presentation: .init(placeholder: try placeholder(), failureImage: failure)) { result in
            if case .failure(let error) = result { codes.append(error.code) } else { codes.append(nil) }
        }
        #expect(codes == [.invalidURL])
        #expect(display.images == [.image(hasFailureImage ? small : one, hasTransition: false)])
    }

    @Test("L14 a new load cancels the earlier one: its completion is called first, its image is never shown")
    func reuse() async throws {
        let fixture = try await PipelineFixture(.init(server: "location /slow/ { limit_rate 2k; }"))
        let slow = try fixture.serve("slow/a.png", width: 300, height: 300), fast = try fixture.serve()
        let slot = makeSlot(fixture.pipeline)
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

    @Test("L23 a slot starts from the image that only the disk has, in any size, else from the placeholder")
    func storedPreview() async throws {
        let png = try TestImage.png(width: 64, height: 48), gate = Gate(), count = Counter()
        let server = try ScriptedOrigin { _ in
            count.increment()
            return (count.value == 1 ? [] : [.wait(gate)]) + [.response(200, headers: [:], body: png)]
        }
        let directory = try TemporaryDirectory(named: "preview")
        let disk = try DiskCache(.init(directory: directory.path(of: "cache")))
        _ = try await ImagePipeline(.init(diskCache: disk)).image(
            for: ImageRequest(server.url + "/a", cachePolicy: .afterStorage)
        )
        let slot = makeSlot(ImagePipeline(.init(diskCache: disk)))
        let presentation = ImageSlot.Presentation(placeholder: try placeholder(), usesCachedPreview: true)
        let size = PixelSize(width: 32, height: 24)
        slot.load(ImageRequest(server.url + "/a", size: size, cachePolicy: .reload), presentation: presentation)
        let start = RecordingDisplay.Shown.image(one, hasTransition: false)
        let preview = RecordingDisplay.Shown.image(size, hasTransition: false)
        try await eventually("two images are displayed") { display.images.count >= 2 }
        #expect(display.images == [start, preview])
        gate.open()
        try await eventually("the slot has no task") { slot.task == nil }
        #expect(display.images == [start, preview, preview])
        _ = await load(ImageRequest(server.url + "/b"), in: slot, presentation)
        #expect(display.images.dropFirst(3) == [start, .image(small, hasTransition: false)])
    }

    @Test("L06 L14 a slot without a request shows the placeholder, also after a load that delayed it")
    func emptied() async throws {
        let slot = makeSlot(ImagePipeline(.init()))
        let png = try TestImage.png(width: 64, height: 48)
        let request = ImageRequest(.bytes(png))
        let delayed = ImageSlot.Presentation(placeholder: try placeholder(), delaysPlaceholder: true)
        _ = await load(request, in: slot, delayed)
        slot.load(nil, presentation: .init(placeholder: try placeholder()))
        #expect(display.images == [.image(small, hasTransition: false), .image(one, hasTransition: false)])
        guard case .empty = slot.state else { Issue.record("\(slot.state)"); return }
    }

    @Test("L14 two slots of one view load at the same time; progress and state of each can be asked, one is cancelled")
    func twoSlots() async throws {
        let png = try TestImage.png(width: 64, height: 48), gate = Gate()
        let server = try ScriptedOrigin { _ in
            let head = ScriptedOrigin.Step.head(200, headers: ["Content-Length": "\(png.count)"])
            return [head, .send(Array(png.prefix(60))), .wait(gate), .send(Array(png.dropFirst(60)))]
        }
        let pipeline = ImagePipeline(.init()), gates = DisplayGate()
        let icon = ImageSlot(display: display, pipeline: pipeline, gate: gates)
        let background = ImageSlot(display: display, pipeline: pipeline, gate: gates)
        var outcomes: [String] = []
        icon.load(ImageRequest(server.url + "/icon")) { result in
            outcomes.append("icon \((try? result.get()) == nil ? "cancelled" : "shown")")
        }
        background.load(ImageRequest(server.url + "/background")) { result in
            outcomes.append("background \((try? result.get())?.image.size == small)")
        }
        try await eventually("both loads have received 60 bytes") {
            icon.task?.progress?.received == 60 && background.task?.progress?.received == 60
        }
        #expect(background.task?.progress?.expected == png.count)
        for slot in [icon, background] {
            guard case .loading = slot.state else { Issue.record("\(slot.state)"); return }
        }
        icon.cancel()
        #expect(outcomes == ["icon cancelled"])
        gate.open()
        try await eventually("two outcomes, and the pipeline is idle") { outcomes.count == 2 && pipeline.isIdle }
        #expect(outcomes == ["icon cancelled", "background true"])
        guard case .empty = icon.state, case .shown(.network) = background.state else {
            Issue.record("\(icon.state) \(background.state)"); return
        }
        #expect(display.images == [.nothing, .nothing, .image(small, hasTransition: false)])
    }

    @Test("L14 an equal request continues the load, also if memory has an image that the request must not use")
    func repeatedWithoutCache() async throws {
        let png = try TestImage.png(width: 64, height: 48), gate = Gate(), count = Counter()
        let server = try ScriptedOrigin { _ in
            count.increment()
            return (count.value == 1 ? [] : [.wait(gate)]) + [.response(200, headers: [:], body: png)]
        }
        let pipeline = ImagePipeline(.init()), request = ImageRequest(server.url + "/a", cachePolicy: .reload)
        _ = try await pipeline.image(for: request)
        let slot = makeSlot(pipeline)
        slot.load(request)
        await server.waitForRequests(count: 2)
        slot.load(request)
        async let end = load(request, in: slot)
        gate.open()
        #expect(try await end.get().source == .network)
        #expect(server.requests.count == 2)
    }

    @Test("L06 L15 a slot shows decoded images only, also the cached one before a revalidation")
    func showsDecoded() async throws {
        let fixture = try await PipelineFixture(),
            request = try fixture.serve(options: .refreshCached, cachePolicy: .afterStorage)
        _ = try await fixture.pipeline.image(for: request)
        var configuration = ImagePipeline.Configuration(diskCache: fixture.pipeline.configuration.diskCache)
        configuration.requestProcessors = [{ $0.with(options: $0.options.union(.avoidDecode)) }]
        let display = DecodingRecordingDisplay()
        let slot = ImageSlot(display: display, pipeline: ImagePipeline(configuration), gate: DisplayGate())
        _ = await load(request, in: slot)
        #expect(display.decodedStates == [true])
    }

    @Test("L14 an equal request continues the load: one download, no flicker, the earlier completion has cancelled")
    func repeated() async throws {
        let fixture = try await PipelineFixture(.init(server: "location /slow/ { limit_rate 50k; }"))
        let request = try fixture.serve("slow/a.png", width: 150, height: 150)
        let slot = makeSlot(fixture.pipeline)
        let presentation = ImageSlot.Presentation(placeholder: try placeholder(), indicator: .progress)
        var order: [String] = []
        var received = 0
        slot.load(request, presentation: presentation) {
            order.append("first \($0.code)")
        } progress: {
            received = $0.received
        }
        try await eventually("bytes are received") { received > 0 }
        let historyBefore = display.history
        for turn in 0..<100 {
            slot.load(request, presentation: presentation) { order.append("\(turn) \($0.code)") }
            if turn % 10 == 0 { await Task.yield() }
        }
        #expect(display.images == [.image(one, hasTransition: false)])
        #expect(
            !display.history.dropFirst(historyBefore.count).contains(.indicator(.progress(nil))),
            "the indicator was restarted"
        )
        let transitionOnly = ImageSlot.Presentation(failureImage: nil, transition: .crossFade())
        let result = await load(request, in: slot, transitionOnly)
        #expect(order == ["first cancelled"] + (0..<100).map { "\($0) cancelled" })
        #expect(try result.get().source == .network)
        // The last presentation counts: no placeholder, and a transition.
        let imageSize = PixelSize(width: 150, height: 150)
        #expect(display.images.dropFirst() == [.nothing, .image(imageSize, hasTransition: true)])
        #expect(try await fixture.server.requests().count == 1)
        #expect(fixture.pipeline.statistics.cancelled == 0)
    }

    @Test("L14 a load that was taken over can be cancelled by its last owner only")
    func takenOver() async throws {
        let fixture = try await PipelineFixture(.init(server: "location /slow/ { limit_rate 500; }"))
        let request = try fixture.serve("slow/a.png", width: 300, height: 300), next = try fixture.serve()
        let slot = makeSlot(fixture.pipeline)
        var order: [String] = []
        slot.load(request) { order.append("1 \($0.code)") }
        let firstTask = try #require(slot.task)
        // The completion handler starts another load, which replaces the one being started.
        slot.load(request) { _ in
            order.append("2")
            slot.load(next) { order.append("3 \($0.code)") }
        }
        #expect(order == ["1 cancelled"])
        firstTask.cancel()
        firstTask.priority = .high
        #expect(slot.task?.result == nil && slot.task?.priority == .normal)
        slot.load(request) { order.append("4 \($0.code)") }
        try await eventually("number of completions", is: 4) { order.count }
        #expect(order == ["1 cancelled", "2", "4 cancelled", "3 shown"])
        #expect(display.images.last == .image(small, hasTransition: false))
    }

    @Test("L14 L28 an equal request does not continue a load that another thread has just cancelled")
    func cancelledElsewhere() async throws {
        let fixture = try await PipelineFixture(.init(server: "location /slow/ { limit_rate 50k; }"))
        let request = try fixture.serve("slow/a.png", width: 150, height: 150)
        let slot = makeSlot(fixture.pipeline)
        var order: [String] = []
        slot.load(request) { order.append("1 \($0.code)") }
        let task = try #require(slot.task)
        // As on another thread: the completion handler is called later, and the slot does not know yet.
        task.cancelLater()
        #expect(order == [])
        let result = await load(request, in: slot)
        #expect(try result.get().image.size == PixelSize(width: 150, height: 150))
        #expect(order == ["1 cancelled"])
    }

    @Test("L14 a new signature replaces the active load of the expired one")
    func freshSignature() async throws {
        let gate = Gate(), png = try TestImage.png(width: 64, height: 48)
        let server = try ScriptedOrigin { request in
            [.wait(gate), request.path.hasSuffix("old") ? .response(403) : .response(200, headers: [:], body: png)]
        }
        let requests = ["old", "new"].map { signature in
            ImageRequest(
                ImageRequest.Resource(url: "\(server.url)/a.png?sig=\(signature)"),
                ignoredQueryItems: ["sig"]
            )
        }
        #expect(requests[0] == requests[1])
        let slot = makeSlot(ImagePipeline(.init()))
        var order: [String] = []
        slot.load(requests[0]) { order.append("old \($0.code)") }
        await server.waitForRequests(count: 1)
        slot.load(requests[1]) { order.append("new \($0.code)") }
        gate.open()
        try await eventually("number of completions", is: 2) { order.count }
        #expect(order == ["old cancelled", "new shown"])
        #expect(server.requests.map(\.path) == ["/a.png?sig=old", "/a.png?sig=new"])
    }

    @Test("L14 an equal request with another time-out or size limit starts a new load")
    func otherOrigins() throws {
        let gate = Gate(), server = try ScriptedOrigin { _ in [.wait(gate)] }
        let file = try FetchRequest(url: "\(server.url)/a.png")
        var slow = file, short = file
        slow.timeout = .seconds(60)
        short.byteLimit = 1_000
        let resources: [ImageRequest.Resource] = [.remote(file), .remote(slow), .remote(short), .remote(file)]
        let slot = makeSlot(ImagePipeline(.init()))
        let requests = resources.map { ImageRequest($0) }
        for (index, request) in requests.enumerated() {
            #expect(request == requests[0])
            slot.load(request)
            slot.load(request)
            // The display is cleared at each new load, and only then.
            #expect(display.images.count == index + 1)
        }
    }

    @Test("L14 a continued load has the priority of its last request")
    func urgency() throws {
        let gate = Gate(), origin = try ScriptedOrigin { _ in [.wait(gate)] }
        let request = ImageRequest(origin.url + "/a.png")
        let slot = makeSlot(ImagePipeline(.init()))
        for priority in [LoadPriority.low, .high, .normal] {
            slot.load(request.with(priority: priority))
            #expect(slot.task?.priority == priority)
            #expect(slot.task?.request.priority == priority)
            #expect(slot.request?.priority == priority)
        }
        #expect(display.images == [.nothing])
    }

    @Test("L11 L14 a cached image that is shown stays for the next equal request, whatever its placeholder")
    func cachedStays() async throws {
        let fixture = try await PipelineFixture(),
            request = try fixture.serve(options: .refreshCached, cachePolicy: .afterStorage)
        _ = try await fixture.pipeline.image(for: request)
        let slot = makeSlot(fixture.pipeline)
        slot.load(request)
        fixture.pipeline.removeAllFromMemory()
        let result = await load(request, in: slot, .init(placeholder: try placeholder(), indicator: .spinner))
        guard case .unchanged? = try result.get().revalidation else { Issue.record("\(result)"); return }
        #expect(display.images == [.image(small, hasTransition: false)])
        #expect(display.history.suffix(2) == [.indicator(.spinner), .indicator(nil)])
    }

    @Test("L14 one thousand reuses with cancelled loads and released slots: only the last image is shown")
    func storm() async throws {
        let fixture = try await PipelineFixture()
        let requests = try (0..<10).map { try fixture.serve("\($0).png", width: 40 + $0, height: 40) }
        var slot: ImageSlot? = makeSlot(fixture.pipeline)
        var completions = 0
        for turn in 0..<1_000 {
            slot?.load(requests[turn % 9]) { _ in completions += 1 }
            if turn % 7 == 0 { slot?.cancel() }
            if turn % 31 == 0 { slot = makeSlot(fixture.pipeline) }
            if turn % 5 == 0 { await Task.yield() }
        }
        let last = try #require(slot)
        _ = await load(requests[9], in: last)
        try await eventually("number of completions", is: 1_000) { completions }
        #expect(display.images.last == .image(PixelSize(width: 49, height: 40), hasTransition: false))
    }

    @Test("L25 in the background nothing is drawn, and on return the last state once")
    func background() async throws {
        let fixture = try await PipelineFixture(), gate = DisplayGate()
        let one = try fixture.serve("1.png", width: 10, height: 10),
            two = try fixture.serve("2.png", width: 20, height: 20)
        let slot = ImageSlot(display: display, pipeline: fixture.pipeline, gate: gate)
        gate.hold()
        _ = await load(one, in: slot, .init(transition: .crossFade()))
        _ = await load(two, in: slot, .init(transition: .crossFade()))
        #expect(display.history.isEmpty)
        gate.release()
        #expect(display.images == [.image(PixelSize(width: 20, height: 20), hasTransition: false)])
    }

    @Test("L17 callbacks may call back: a completion that starts its slot's next load")
    func reentrancy() async throws {
        let fixture = try await PipelineFixture()
        let one = try fixture.serve("1.png", width: 10, height: 10),
            two = try fixture.serve("2.png", width: 20, height: 20)
        _ = try await (fixture.pipeline.image(for: one), fixture.pipeline.image(for: two))
        let slot = makeSlot(fixture.pipeline)
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
