import Eidetic
import EideticCore

/// Loads all pictures of a plan, some at a time.
final class BatchLoader: Sendable {
    private let arguments: LoadArguments
    private let pipeline: ImagePipeline
    private let display: ProgressDisplay
    private let writer: ImageWriter?
    private let sheet: ContactSheet?
    private let viewer: TerminalImageViewer?
    private let pool = WorkPool(name: "pictures", maximumThreadCount: 2)
    private let time = SystemTime()

    init(
        arguments: LoadArguments,
        pipeline: ImagePipeline,
        display: ProgressDisplay,
        writer: ImageWriter?,
        sheet: ContactSheet?
    ) {
        self.arguments = arguments
        self.pipeline = pipeline
        self.display = display
        self.writer = writer
        self.sheet = sheet
        viewer = arguments.graphics.map { TerminalImageViewer(graphics: $0, terminal: Terminal.size()) }
    }

    /// Loads all; comes to its end soon after its task is cancelled, or nobody reads the output any more.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            // Some more than are downloaded at once, so that decoding does not hold up the network.
            var freeSlots = arguments.concurrency + 2
            let indices = Array(arguments.items.indices)
            for index in arguments.network.isLastInFirstOut ? indices.reversed() : indices {
                if freeSlots == 0 { await group.next() } else { freeSlots -= 1 }
                if Task.isCancelled || TextStream.output.failure != nil { break }
                group.addTask { await self.loadItem(at: index) }
            }
            if TextStream.output.failure != nil { group.cancelAll() }
        }
    }

    /// Loads one picture, as often as the list names it: the second time it is in memory.
    private func loadItem(at index: Int) async {
        let item = arguments.items[index]
        display.adjustRunningCount(by: 1)
        defer { display.adjustRunningCount(by: -1) }
        var failure: EideticError?
        for repetition in 0..<item.count {
            let start = time.uptime
            var graphics: [UInt8] = []
            let result: Result<LoadOutcome.LoadedImage, EideticError>
            var trace: LoadTrace?
            do throws(EideticError) {
                if let failure { throw failure }
                let response = try await response(item.url, isFirst: repetition == 0)
                graphics = repetition == 0 ? await use(response, index) : []
                result = .success(describe(response))
                if arguments.explainsLoads { trace = response.trace }
            } catch {
                if error.code == .cancelled { return }
                failure = error
                result = .failure(error)
            }
            let outcome = LoadOutcome(
                url: item.url,
                result: result,
                duration: time.uptime - start,
                record: trace
            )
            display.report(outcome, graphics: graphics, asJSON: plan.writesJSON)
        }
        if failure != nil { sheet?.markMissing(at: index) }
    }

    private func response(for url: String, isFirst: Bool) async throws(EideticError) -> ImageResponse {
        let requiredOptions: ImageOptions =
            isFirst && writer != nil ? [.waitStoreCache, .queryMemoryData] : .waitStoreCache
        let resource = try plan.network.applied(to: try ImageResource(url: url))
        let request = ImageRequest(
            resource,
            rendering: .init(size: wantedSize),
            options: requiredOptions.union(plan.options)
        )
        var meter = DownloadMeter(display: display), previews = 0
        for await event in pipeline.events(for: request) {
            if case .progress(let progress) = event {
                meter.update(progress)
            } else if case .preview(let image) = event {
                previews += 1
                await show(image, previews, of: url)
            } else if case .finished(let response) = event {
                if response.source == .network { meter.complete(byteCount: response.byteCount) }
                return response
            } else if case .failed(let error) = event {
                meter.fail()
                throw error
            }
        }
        throw .cancelled
    }

    /// Tells of a partial picture.
    private func showPreview(_ image: Image, number: Int, url: String) async {
        let text =
            arguments.writesJSON
            ? JSON.object([
                ("url", .string(url)), ("preview", .integer(number)), ("width", .integer(image.size.width)),
                ("height", .integer(image.size.height)),
            ]).text : "preview  \(number): \(image.size)  \(TerminalText.sanitized(url))"
        let bytes = try? await pool.run { [self] _ throws(EideticError) in try viewer?.bytes(for: image.pixels) ?? [] }
        display.write(Array("\(text)\n".utf8) + (bytes ?? []), to: .output)
    }

    /// The size to decode to: no larger than anybody will see it.
    private var requestedSize: PixelSize? {
        if let size = arguments.size { return size }
        let seen = [sheet?.cellSize, viewer?.size].compactMap { $0 }
        guard let width = seen.map(\.width).max(), let height = seen.map(\.height).max() else { return nil }
        return PixelSize(width: width, height: height)
    }

    private func loadedImage(from response: ImageResponse) -> LoadOutcome.LoadedImage {
        LoadOutcome.LoadedImage(
            source: response.source,
            format: response.image.format,
            size: plan.size == nil ? response.image.sourceSize : response.image.size,
            bytes: response.byteCount
        )
    }

    /// Does with a picture what the plan wants; gives the bytes that show it on the terminal.
    private func deliver(_ response: ImageResponse, at index: Int) async -> [UInt8] {
        if let error = response.storeError { flaw("\(plan.items[index].url) is not kept: \(error.message)") }
        if case .failed(let error) = response.revalidation {
            flaw("\(plan.items[index].url) is not refreshed: \(error.message)")
        }
        do throws(EideticError) {
            return try await pool.run { [self] _ throws(EideticError) in
                try writer?.write(response.image, encodedBytes: response.encodedBytes, name: plan.items[index].name)
                guard sheet != nil || viewer != nil else { return [] }
                let pixels = try response.image.decodedSynchronously().pixels
                try sheet?.draw(pixels, at: index)
                return try viewer?.bytes(for: pixels) ?? []
            }
        } catch {
            if error.code != .cancelled { reportPartialFailure(error.message) }
            return []
        }
    }

    private func reportPartialFailure(_ reason: String) {
        display.addPartialFailure(reason)
        display.writeLine("eidetic: \(TerminalText.sanitized(reason))", to: .errors)
    }
}
