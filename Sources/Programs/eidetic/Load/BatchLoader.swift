import Eidetic
import EideticCLI
import EideticCore
import EideticFetch

/// A loader of all images of a list, some at a time.
final class BatchLoader: Sendable {
    private let arguments: LoadArguments
    let pipeline: ImagePipeline
    private let display: ProgressDisplay
    private let writer: ImageWriter?
    private let sheet: ContactSheet?
    private let viewer: TerminalImageViewer?
    private let pool: WorkPool
    private let time = SystemTime()
    private let isReadOnly: Bool

    /// Creates a loader; `isReadOnly` says that the cache is only read.
    init(
        arguments: LoadArguments,
        pipeline: ImagePipeline,
        isReadOnly: Bool,
        display: ProgressDisplay,
        writer: ImageWriter?,
        sheet: ContactSheet?
    ) {
        self.arguments = arguments
        self.isReadOnly = isReadOnly
        self.pipeline = pipeline
        self.display = display
        self.writer = writer
        self.sheet = sheet
        pool = WorkPool(name: "images", maximumThreadCount: 2, isForFiles: arguments.writesBytesOnly)
        viewer = arguments.graphics.map { TerminalImageViewer(graphics: $0, terminal: Terminal.size()) }
    }

    /// Loads all images; ends early if its task is cancelled or the output cannot be written.
    func run() async {
        // What is only written needs no other thread than the one that waits for the disk.
        let executor = BlockingExecutor(name: "files", maximumThreadCount: 4)
        await withTaskExecutorPreference(arguments.writesBytesOnly ? executor : nil) { await loadItems() }
    }

    private func loadItems() async {
        // Two more than the concurrent downloads, so that decoding does not delay the network; none more if the order
        // must be exact, since the download queue has its own.
        let slotCount = arguments.concurrency + (arguments.network.isLastInFirstOut ? 0 : 2)
        let queue = SharedQueue(makeQueue())
        // An error ends the other tasks.
        try? await withThrowingDiscardingTaskGroup { group in
            for _ in 0..<slotCount {
                guard let first = queue.items.withLock({ $0.next() }) else { break }
                group.addTask { [self] in try await loadItems(from: first, of: queue) }
            }
        }
    }

    /// The items that have not started, for all slots.
    private final class SharedQueue: Sendable {
        let items: Guarded<LoadOrder>

        init(_ queue: LoadOrder) { items = Guarded(queue) }
    }

    /// Loads an item and those that follow in its slot; the end of one item makes at most one other item possible.
    nonisolated(nonsending) private func loadItems(from first: LoadOrder.Item, of queue: SharedQueue) async throws {
        var next: LoadOrder.Item? = first
        while let item = next, !Task.isCancelled {
            await loadItem(at: index(ofPosition: item.position))
            if TextStream.output.failure != nil { throw CancellationError() }
            next = queue.items.withLock { queue in
                queue.finish(item)
                return queue.next()
            }
        }
    }

    /// Creates the queue of all items; one origin has one more than its concurrent downloads, as far as that keeps the
    /// order.
    private func makeQueue() -> LoadOrder {
        let limit = maximumPerHost + (arguments.network.isLastInFirstOut ? 0 : 1)
        return LoadOrder(count: arguments.items.count, limit: limit) { [self] position in
            (try? FetchRequest(url: arguments.items[index(ofPosition: position)].url))?.origin
        }
    }

    /// Returns the index of the item at a position of the order in which items start.
    ///
    /// Last in, first out is the order of a queue into which the whole list was put: the first items start at once, and
    /// the others from the end of the list.
    private func index(ofPosition position: Int) -> Int {
        guard arguments.network.isLastInFirstOut else { return position }
        let startedAtOnce = min(arguments.concurrency, maximumPerHost)
        return position < startedAtOnce ? position : arguments.items.count - 1 - (position - startedAtOnce)
    }

    /// The largest number of concurrent downloads from one host.
    private var maximumPerHost: Int {
        var configuration = arguments.network.configuration
        configuration.maximumConcurrent = arguments.concurrency
        return configuration.maximumPerHost
    }

    /// Loads one image, once for each occurrence in the list: from the second time on it is in memory.
    nonisolated(nonsending) private func loadItem(at index: Int) async {
        let item = arguments.items[index]
        if let file = writer?.keptFile(for: item.url) {
            return display.reportKept(item, file: file, asJSON: arguments.writesJSON)
        }
        display.adjustRunningCount(by: 1)
        defer { display.adjustRunningCount(by: -1) }
        var failure: EideticError?
        var delivery = Delivery()
        for repetition in 0..<item.count {
            let start = time.uptime
            let result: Result<LoadOutcome.LoadedImage, EideticError>
            var trace: LoadTrace?
            do throws(EideticError) {
                if let failure { throw failure }
                let response = try await response(for: item, isFirst: repetition == 0)
                if repetition == 0 { delivery = await deliver(response, at: index) }
                result = .success(loadedImage(from: response, delivery: delivery))
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
                trace: trace
            )
            let graphics = repetition == 0 ? delivery.graphics : []
            display.report(outcome, graphics: graphics, asJSON: arguments.writesJSON)
        }
        if let failure { sheet?.markMissing(at: index, caption: item.caption, reason: failure.shortReason) }
    }

    nonisolated(nonsending) private func response(
        for item: LoadArguments.Item,
        isFirst: Bool
    ) async throws(EideticError) -> ImageResponse {
        let url = item.url
        var options = arguments.options
        var cachePolicy = arguments.cachePolicy
        if isFirst, let writer {
            options.formUnion(writer.requestOptions)
            cachePolicy.includesBytes = writer.needsBytes
        }
        // Only what the list names again is found in memory.
        if item.count == 1 { cachePolicy.writes.remove(.memory) }
        // What other machines get, and what is loaded again from memory, has proved to be an image.
        if arguments.writesBytesOnly, item.count == 1, pipeline.configuration.sharedTier == nil {
            options.insert(.avoidDecode)
        }
        let resource = arguments.network.applied(to: ImageRequest.Resource(url: url))
        let request = ImageRequest(resource, rendering: rendering, options: options, cachePolicy: cachePolicy)
        let meter = DownloadMeter(display: display)
        guard options.contains(.progressive) else {
            do throws(EideticError) {
                let context = JobContext(priority: request.priority)
                let response = try await pipeline.load(pipeline.prepare(request), context: context) { event in
                    if case .progress(let progress) = event { meter.update(progress) }
                }
                if response.source == .network { meter.complete(byteCount: response.byteCount) }
                return response
            } catch {
                meter.fail()
                throw error
            }
        }
        var previews = 0
        for await event in pipeline.task(for: request).events {
            if case .progress(let progress) = event {
                meter.update(progress)
            } else if case .preview(let image) = event {
                previews += 1
                await showPreview(image, number: previews, url: url)
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

    /// Writes a line for a partial image.
    private func showPreview(_ image: Image, number: Int, url: String) async {
        let text =
            arguments.writesJSON
            ? JSON.object([
                ("url", .url(url)), ("preview", .integer(number)), ("width", .integer(image.size.width)),
                ("height", .integer(image.size.height)),
            ]).text : "preview  \(number): \(image.size)  \(TerminalText.abbreviated(url))"
        let bytes = try? await pool.run { [self] _ throws(EideticError) in try viewer?.bytes(for: image.pixels) ?? [] }
        display.write(Array("\(text)\n".utf8) + (bytes ?? []), to: .output)
    }

    /// The changes of the command line; without any the size is the largest one that is displayed.
    private var rendering: ImageRequest.Rendering {
        arguments.isChanged || arguments.encodesImages ? arguments.rendering : .init(size: displayedSize)
    }

    private var displayedSize: PixelSize? {
        let displayedSizes = [sheet?.cellSize, viewer?.size].compactMap(\.self)
        guard let width = displayedSizes.map(\.width).max(), let height = displayedSizes.map(\.height).max() else {
            return nil
        }
        return PixelSize(width: width, height: height)
    }

    private func loadedImage(from response: ImageResponse, delivery: Delivery) -> LoadOutcome.LoadedImage {
        LoadOutcome.LoadedImage(
            source: response.source,
            format: response.image.format,
            size: arguments.isChanged ? response.image.size : response.image.sourceSize,
            bytes: response.byteCount,
            isPartial: response.image.isPartial,
            file: delivery.file,
            fileError: delivery.error
        )
    }

    /// The places to which an image was written.
    private struct Delivery {
        var file: String?
        /// The bytes that display the image on the terminal.
        var graphics: [UInt8] = []
        /// The reason for which it was not written.
        var error: EideticError?
    }

    /// Writes an image to its file and to the contact sheet.
    nonisolated(nonsending) private func deliver(_ response: ImageResponse, at index: Int) async -> Delivery {
        let item = arguments.items[index]
        let name = TerminalText.abbreviated(item.url)
        // A cache that is only read stores nothing, which is no failure.
        if let error = response.storeError, error.code != .permissionDenied || !isReadOnly {
            reportPartialFailure("\(name) was not stored: \(error.message)")
        }
        if case .failed(let error) = response.revalidation {
            reportPartialFailure("\(name) was not refreshed: \(error.message)")
        }
        do throws(EideticError) {
            return try await pool.run { [self] _ throws(EideticError) in
                let file = try writer?.write(response, url: item.url)
                guard sheet != nil || viewer != nil else { return Delivery(file: file) }
                let pixels = try response.image.decodedSynchronously().pixels
                try sheet?.draw(pixels, at: index, caption: item.caption)
                return Delivery(file: file, graphics: try viewer?.bytes(for: pixels) ?? [])
            }
        } catch {
            if error.isExistingFile { display.addLeftFile() }
            if error.code != .cancelled { reportPartialFailure(error.message) }
            return Delivery(error: error)
        }
    }

    private func reportPartialFailure(_ reason: String) {
        display.addPartialFailure(reason)
        display.writeLine("eidetic: \(TerminalText.sanitized(reason))", to: .errors)
    }
}
