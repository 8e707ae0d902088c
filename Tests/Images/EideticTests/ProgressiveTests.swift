import Eidetic
import EideticCodecs
import EideticCore
import EideticTestSupport
import EideticViews
import Testing

/// A display that records what it shows partial images over, once for each load.
@MainActor
private final class PreviewDisplay: ImageDisplay {
    private(set) var backgrounds: [PixelSize?] = []
    private var isPreviewShown = false

    func display(_ image: Image?, transition: ImageTransition?, completion: @escaping @MainActor () -> Void) {
        isPreviewShown = false
        completion()
    }

    func displayPreview(_ image: Image, over background: Image?) {
        if !isPreviewShown { backgrounds.append(background?.size) }
        isPreviewShown = true
    }
}

@Suite("Progressive loads", .timeLimit(.minutes(2)))
struct ProgressiveTests {
    /// A server that sends the first part of an image, and the remaining bytes when the gate is open.
    private func makeServer(sending bytes: [UInt8], part: Double, gate: Gate, hasLength: Bool = true) throws
        -> ScriptedOrigin
    {
        let count = Int(Double(bytes.count) * part)
        let first = Array(bytes.prefix(count)), remaining = Array(bytes.dropFirst(count))
        return try ScriptedOrigin { _ in
            if hasLength {
                return [
                    .head(200, headers: ["Content-Length": "\(bytes.count)"]), .send(first), .wait(gate),
                    .send(remaining),
                ]
            }
            let head = ScriptedOrigin.Step.head(200, headers: ["Transfer-Encoding": "chunked"])
            return [head, .chunk(first), .wait(gate), .chunk(remaining), .chunk([])]
        }
    }

    private func encodedImage(_ format: ImageFormat) throws -> [UInt8] {
        let pixels = try TestImage.pixels(width: 200, height: 160)
        if format == .png { return try TestImage.png(width: 200, height: 160) }
        let image = Image(frames: [.init(pixels: pixels)], format: format, sourceSize: pixels.size)
        return try ImageEncoder.encode(image, as: format)
    }

    /// Returns the number of pixels that differ.
    private static func differenceCount(between first: PixelBuffer, and second: PixelBuffer) -> Int {
        (0..<first.size.height).reduce(0) { sum, y in
            sum + (0..<first.size.width).count { first[$0, y] != second[$0, y] }
        }
    }

    @Test(
        "L10 L06 progressive: a partial image is delivered before the remaining bytes are received",
        arguments: [true, false]
    )
    func previews(hasLength: Bool) async throws {
        for format in [ImageFormat.png, .jpeg, .gif, .webp] {
            let gate = Gate(),
                server = try makeServer(sending: try encodedImage(format), part: 0.7, gate: gate, hasLength: hasLength)
            let request = ImageRequest(server.url + "/a", options: .progressive)
            var events: [String] = []
            for await event in ImagePipeline(.init()).task(for: request).events {
                switch event {
                case .progress, .cached: break
                case .preview(let image):
                    events.append("preview \(image.size)")
                    #expect(image.isPartial)
                    gate.open()
                case .finished(let response):
                    events.append("finished \(response.image.size)")
                    #expect(!response.image.isPartial)
                case .failed(let error): events.append("\(error)")
                }
            }
            #expect(Set(events) == ["preview 200x160", "finished 200x160"], "\(format)")
            #expect(events.last == "finished 200x160")
        }
    }

    @Test("L10 L02 each load gets previews of its own size, from one download; a load without the option gets none")
    func sizes() async throws {
        let gate = Gate(), server = try makeServer(sending: try encodedImage(.png), part: 0.7, gate: gate),
            pipeline = ImagePipeline(.init())
        let full = ImageRequest(server.url + "/a", options: .progressive)
        let small = full.with(rendering: .init(size: PixelSize(width: 20, height: 20)))
        func previewSizes(of request: ImageRequest, opening: Gate) -> Task<Set<PixelSize>, Never> {
            Task {
                var sizes: Set<PixelSize> = []
                for await event in pipeline.task(for: request).events {
                    guard case .preview(let image) = event else { continue }
                    sizes.insert(image.size)
                    opening.open()
                }
                return sizes
            }
        }
        let seen = [Gate(), Gate(), Gate()]
        let first = previewSizes(of: full, opening: seen[0])
        await seen[0].wait()
        let second = previewSizes(of: small, opening: seen[1]),
            none = previewSizes(of: full.with(options: []), opening: seen[2])
        await seen[1].wait()
        try await eventually("number of loads", is: 3) { pipeline.statistics.loads }
        gate.open()
        #expect(await first.value == [PixelSize(width: 200, height: 160)])
        #expect(await second.value == [PixelSize(width: 20, height: 16)])
        #expect(await none.value.isEmpty)
        #expect(server.requests.count == 1)
    }

    @Test("L10 a transform changes previews too, and no preview is kept")
    func transformed() async throws {
        let gate = Gate(), server = try makeServer(sending: try encodedImage(.png), part: 0.7, gate: gate),
            pipeline = ImagePipeline(.init())
        let calls = Counter()
        let request = ImageRequest(server.url + "/a", options: .progressive)
            .with(rendering: .init(transform: CountingTransform(count: calls)))
        let task = Task {
            for await event in pipeline.task(for: request).events {
                guard case .preview = event else { continue }
                // Once for each preview; the next one may be made already.
                #expect(calls.value >= 1)
                withUnsafeCurrentTask { $0?.cancel() }
            }
        }
        await task.value
        gate.open()
        try await eventually("the pipeline is idle") { pipeline.isIdle }
        #expect(pipeline.cachedImage(for: request) == nil)
    }

    @Test("L10 a slot shows previews, then the image")
    @MainActor
    func slot() async throws {
        let gate = Gate(), server = try makeServer(sending: try encodedImage(.png), part: 0.7, gate: gate),
            display = RecordingDisplay()
        let slot = ImageSlot(display: display, pipeline: ImagePipeline(.init()), gate: DisplayGate())
        let completions = Counter()
        slot.load(ImageRequest(server.url + "/a", options: .progressive)) { _ in completions.increment() }
        try await eventually("two images are displayed") { display.images.count >= 2 }
        gate.open()
        try await eventually("the load has ended") { completions.value > 0 && slot.task == nil }
        #expect(completions.value == 1)
        let preview = RecordingDisplay.Shown.image(PixelSize(width: 200, height: 160), hasTransition: false)
        #expect(display.images.first == .nothing)
        #expect(display.images.count >= 3)
        #expect(display.images.dropFirst().allSatisfy { $0 == preview })
        // The previews lack the rows that had not arrived, the last image has all.
        let pixels = display.pixels
        #expect(Set(pixels.map(ObjectIdentifier.init)).count == pixels.count)
        let complete = try ImageDecoder.decode(try encodedImage(.png)).pixels
        #expect(try Self.differenceCount(between: #require(pixels.last), and: complete) == 0)
        #expect(try Self.differenceCount(between: #require(pixels.first), and: complete) > 0)
    }

    @Test("L10 L06 a partial image is shown over the placeholder, or over the image that is kept")
    @MainActor
    func slotBackground() async throws {
        let png = try encodedImage(.png), gates = [Gate(), Gate()], count = Counter()
        let server = try ScriptedOrigin { _ in
            count.increment()
            let head = ScriptedOrigin.Step.head(200, headers: ["Content-Length": "\(png.count)"])
            let half = png.count / 2
            return [head, .send(Array(png[..<half])), .wait(gates[count.value - 1]), .send(Array(png[half...]))]
        }
        let display = PreviewDisplay(), completions = Counter()
        let slot = ImageSlot(display: display, pipeline: ImagePipeline(.init()), gate: DisplayGate())
        let pixels = try TestImage.pixels(width: 1, height: 1)
        let placeholder = Image(frames: [Image.Frame(pixels: pixels)], format: .png, sourceSize: pixels.size)
        let expected = [pixels.size, PixelSize(width: 200, height: 160)]
        for (turn, keepsCurrentImage) in [false, true].enumerated() {
            let request = ImageRequest(server.url + "/\(turn)", options: .progressive)
            let presentation = ImageSlot.Presentation(placeholder: placeholder, keepsCurrentImage: keepsCurrentImage)
            slot.load(request, presentation: presentation) { _ in completions.increment() }
            try await eventually("the background of a preview") { display.backgrounds.last == expected[turn] }
            gates[turn].open()
            try await eventually("number of completions", is: turn + 1) { completions.value }
        }
        // There may be several previews.
        #expect(display.backgrounds.first == expected[0] && display.backgrounds.last == expected[1])
    }

    @Test("L10 a load that fails after previews shows the previous image again")
    @MainActor
    func slotFailure() async throws {
        let png = try encodedImage(.png), gate = Gate(), display = RecordingDisplay()
        let server = try ScriptedOrigin { _ in
            let head = ScriptedOrigin.Step.head(200, headers: ["Content-Length": "\(png.count)"])
            return [head, .send(Array(png.prefix(png.count / 2))), .wait(gate), .reset]
        }
        let pixels = try TestImage.pixels(width: 1, height: 1)
        let placeholder = Image(frames: [Image.Frame(pixels: pixels)], format: .png, sourceSize: pixels.size)
        let pipeline = ImagePipeline(.init()), completions = Counter()
        let slot = ImageSlot(display: display, pipeline: pipeline, gate: DisplayGate())
        let request = ImageRequest(server.url + "/a", options: .progressive)
        slot.load(request, presentation: .init(placeholder: placeholder)) { _ in completions.increment() }
        try await eventually("two images are displayed") { display.images.count >= 2 }
        gate.open()
        try await expectExactly(1, of: completions, in: pipeline)
        guard case .failed = slot.state else { Issue.record("\(slot.state)"); return }
        #expect(display.images.last == .image(pixels.size, hasTransition: false))
    }

    @Test("L10 L07 if the connection breaks during previews, retryFailed restarts the download")
    func broken() async throws {
        let png = try encodedImage(.png), tries = Counter()
        let server = try ScriptedOrigin { _ in
            tries.increment()
            guard tries.value == 1 else { return [.response(200, headers: [:], body: png)] }
            return [.head(200, headers: ["Content-Length": "\(png.count)"]), .send(Array(png.prefix(1_000))), .reset]
        }
        let request = ImageRequest(server.url + "/a", options: [.progressive, .retryFailed])
        #expect(try await ImagePipeline(.init()).image(for: request).size.width == 200)
        #expect(tries.value == 2)
    }

    @Test("L10 L07 a progressive download that breaks off goes on where it stopped, if the server allows that")
    func resumed() async throws {
        let png = try encodedImage(.png), ranges = Guarded<[String?]>([])
        for validator in ["\"one\"", "W/\"weak\""] {
            ranges.withLock { $0 = [] }
            let server = try ScriptedOrigin { request in
                let range = request.headers["range"]
                let isFirst = ranges.withLock { ranges in
                    ranges.append(range)
                    return ranges.count == 1
                }
                if isFirst {
                    let fields: KeyValuePairs = ["Content-Length": "\(png.count)", "ETag": validator]
                    return [.head(200, headers: fields), .send(Array(png.prefix(1_000))), .close]
                }
                guard range == "bytes=1000-" else { return [.response(200, headers: [:], body: png)] }
                let fields: KeyValuePairs = [
                    "Content-Range": "bytes 1000-\(png.count - 1)/\(png.count)", "ETag": validator,
                ]
                return [.response(206, headers: fields, body: Array(png.dropFirst(1_000)))]
            }
            let request = ImageRequest(server.url + "/a", options: [.progressive, .retryFailed])
            #expect(try await ImagePipeline(.init()).image(for: request).size.width == 200)
            #expect(ranges.withLock { $0 } == [nil, validator.hasPrefix("W") ? nil : "bytes=1000-"])
        }
    }

    /// Returns a server that breaks off after the first part, sends the second one when it is asked for the rest, and
    /// the rest of it when the gate is open.
    private func makeBrokenServer(
        sending bytes: [UInt8],
        first: Int,
        second: Int,
        gate: Gate,
        resumes: Bool
    ) throws -> ScriptedOrigin {
        let count = bytes.count
        return try ScriptedOrigin { request in
            guard let range = request.headers["range"] else {
                let fields: KeyValuePairs = ["Content-Length": "\(count)", "ETag": "\"one\""]
                return [.head(200, headers: fields), .send(Array(bytes.prefix(first))), .close]
            }
            guard range == "bytes=\(first)-" else { return [.response(416)] }
            guard resumes else {
                let fields: KeyValuePairs = ["Content-Length": "\(count)", "ETag": "\"two\""]
                return [
                    .head(200, headers: fields), .send(Array(bytes.prefix(second))), .wait(gate),
                    .send(Array(bytes.dropFirst(second))),
                ]
            }
            let fields: KeyValuePairs = [
                "Content-Range": "bytes \(first)-\(count - 1)/\(count)", "Content-Length": "\(count - first)",
                "ETag": "\"one\"",
            ]
            return [
                .head(206, headers: fields), .send(Array(bytes[first..<second])), .wait(gate),
                .send(Array(bytes.dropFirst(second))),
            ]
        }
    }

    @Test("L10 L07 previews go on when a download is resumed, or begins again", arguments: [true, false])
    func resumedPreviews(resumes: Bool) async throws {
        let png = try encodedImage(.png), gate = Gate(), first = png.count * 3 / 10, second = png.count * 8 / 10
        let server = try makeBrokenServer(sending: png, first: first, second: second, gate: gate, resumes: resumes)
        let request = ImageRequest(server.url + "/a", options: [.progressive, .retryFailed])
        let complete = try ImageDecoder.decode(png).pixels
        var isFinished = false
        for await event in ImagePipeline(.init()).task(for: request).events {
            switch event {
            case .preview(let image):
                let missing = Self.differenceCount(between: image.pixels, and: complete)
                // More than what the first part shows.
                if Double(missing) < 0.5 * Double(complete.size.pixelCount) { gate.open() }
            case .finished(let response):
                isFinished = true
                #expect(Self.differenceCount(between: response.image.pixels, and: complete) == 0)
            case .failed(let error): Issue.record("\(error)")
            default: break
            }
        }
        #expect(isFinished && gate.isOpen && server.requests.count == 2)
    }

    @Test("F03 L10 L07 an animation goes on playing when its download is resumed", arguments: [true, false])
    @MainActor
    func resumedAnimation(resumes: Bool) async throws {
        let size = PixelSize(width: 16, height: 16)
        let frames = try (0..<30).map { number in
            let pixels = try PixelBuffer(size: size, alpha: .opaque) { index in
                SIMD4(UInt8(8 * number), UInt8(index % 250), 9, 255)
            }
            return Image.Frame(pixels: pixels, duration: .milliseconds(20))
        }
        let image = Image(frames: frames, loopCount: nil, format: .gif, sourceSize: size)
        let gif = try ImageEncoder.encode(image, as: .gif)
        let gate = Gate(), first = gif.count * 3 / 10, second = gif.count * 8 / 10
        let server = try makeBrokenServer(sending: gif, first: first, second: second, gate: gate, resumes: resumes)
        let display = RecordingDisplay(), completions = Counter()
        let slot = ImageSlot(display: display, pipeline: ImagePipeline(.init()), gate: DisplayGate())
        let request = ImageRequest(server.url + "/a", options: [.progressive, .retryFailed])
        slot.load(request) { _ in completions.increment() }
        try await eventually("the slot has a player") { slot.player != nil }
        let animation = try #require(slot.player?.animation)
        // A server that begins again may send another image, whose bytes are compared at the end.
        if resumes { try await eventually("more than 15 frames") { animation.frameCount > 15 } }
        #expect(!animation.isComplete && completions.value == 0)
        gate.open()
        try await eventually("the load has ended, and the animation is complete") {
            completions.value > 0 && animation.isComplete
        }
        #expect(slot.player?.animation === animation && animation.frameCount == 30)
    }

    @Test("L07 L10 a downloader that always retries does so also for progressive loads")
    func retries() async throws {
        let png = try encodedImage(.png), tries = Counter()
        let server = try ScriptedOrigin { _ in
            tries.increment()
            return [tries.value == 1 ? .response(503) : .response(200, headers: [:], body: png)]
        }
        var downloads = ImagePipeline.Configuration().downloads
        downloads.alwaysRetries = true
        let request = ImageRequest(server.url + "/a", options: .progressive)
        let pipeline = ImagePipeline(.init(downloader: Downloader(downloads)))
        #expect(try await pipeline.image(for: request).size.width == 200)
        #expect(tries.value == 2)
    }

    @Test("L07 L10 the end of a progressive download is reported, and its URL leaves the list of failures")
    func reportsEnd() async throws {
        let png = try encodedImage(.png), tries = Counter(), outcomes = Guarded<[Int?]>([])
        let server = try ScriptedOrigin { _ in
            tries.increment()
            return [tries.value == 1 ? .response(404) : .response(200, headers: [:], body: png)]
        }
        var downloads = ImagePipeline.Configuration().downloads
        downloads.onFinish = { _, result in outcomes.withLock { $0.append(try? result.get().metrics.bodyBytes) } }
        let downloader = Downloader(downloads), pipeline = ImagePipeline(.init(downloader: downloader))
        let request = ImageRequest(server.url + "/a", options: .progressive)
        await #expect(throws: EideticError.self) { try await pipeline.image(for: request) }
        #expect(downloader.failures.entries.count == 1)
        _ = try await pipeline.image(for: request.with(options: [.progressive, .retryFailed]))
        #expect(downloader.failures.entries.isEmpty)
        #expect(outcomes.withLock { $0 } == [nil, png.count])
    }

    @Test("L08 L10 progress is reported no more often than the minimum interval, also in progressive loads")
    func throttled() async throws {
        let gate = Gate(), bytes = try encodedImage(.png),
            server = try makeServer(sending: bytes, part: 0.7, gate: gate)
        var downloads = ImagePipeline.Configuration().downloads
        downloads.minimumProgressInterval = .seconds(1)
        downloads.time = ManualTime()
        let pipeline = ImagePipeline(.init(downloader: Downloader(downloads)))
        var received: [Int] = []
        for await event in pipeline.task(for: ImageRequest(server.url + "/a", options: .progressive)).events {
            if case .progress(let progress) = event { received.append(progress.received) }
            if case .preview = event { gate.open() }
        }
        #expect(received.count <= 2)
        #expect(received.last == bytes.count)
    }
}
