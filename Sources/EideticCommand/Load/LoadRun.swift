import Eidetic
import EideticCore

/// Loads all pictures of a plan, some at a time.
final class LoadRun: Sendable {
    private let plan: LoadPlan
    private let pipeline: ImagePipeline
    private let display: LoadDisplay
    private let writer: PictureWriter?
    private let sheet: ContactSheet?
    private let viewer: PictureViewer?
    private let pool = WorkPool(name: "pictures", width: 2)
    private let time = SystemTime()

    init(
        plan: LoadPlan,
        pipeline: ImagePipeline,
        display: LoadDisplay,
        writer: PictureWriter?,
        sheet: ContactSheet?
    ) {
        self.plan = plan
        self.pipeline = pipeline
        self.display = display
        self.writer = writer
        self.sheet = sheet
        viewer = plan.graphics.map { PictureViewer($0, terminal: Terminal.size()) }
    }

    /// Loads all; comes to its end soon after its task is cancelled, or nobody reads the output any more.
    func perform() async {
        await withTaskGroup(of: Void.self) { group in
            // Some more than are downloaded at once, so that decoding does not hold up the network.
            var free = plan.concurrency + 2
            let indices = Array(plan.items.indices)
            for index in plan.transfer.isLastInFirstOut ? indices.reversed() : indices {
                if free == 0 { await group.next() } else { free -= 1 }
                if Task.isCancelled || TextStream.output.failure != nil { break }
                group.addTask { await self.load(index) }
            }
            if TextStream.output.failure != nil { group.cancelAll() }
        }
    }

    /// Loads one picture, as often as the list names it: the second time it is in memory.
    private func load(_ index: Int) async {
        let item = plan.items[index]
        display.countRunning(1)
        defer { display.countRunning(-1) }
        var failure: EideticError?
        for turn in 0..<item.count {
            let start = time.uptime
            var picture: [UInt8] = []
            let result: Result<LoadOutcome.Picture, EideticError>
            var record: LoadRecord?
            do throws(EideticError) {
                if let failure { throw failure }
                let response = try await response(item.url, isFirst: turn == 0)
                picture = turn == 0 ? await use(response, index) : []
                result = .success(describe(response))
                if plan.isExplained { record = response.record }
            } catch {
                if error.code == .cancelled { return }
                failure = error
                result = .failure(error)
            }
            let outcome = LoadOutcome(
                url: item.url,
                result: result,
                duration: time.uptime - start,
                record: record
            )
            display.finished(outcome, picture: picture, asJSON: plan.isJSON)
        }
        if failure != nil { sheet?.mark(index) }
    }

    private func response(_ url: String, isFirst: Bool) async throws(EideticError) -> ImageResponse {
        let own: ImageOptions = isFirst && writer != nil ? [.waitStoreCache, .queryMemoryData] : .waitStoreCache
        let origin = try plan.transfer.applied(to: try ImageOrigin(url: url))
        let request = ImageRequest(origin, rendering: .init(size: wantedSize), options: own.union(plan.options))
        var meter = TransferMeter(display), previews = 0
        for await event in pipeline.events(for: request) {
            if case .progress(let progress) = event {
                meter.note(progress)
            } else if case .preview(let image) = event {
                previews += 1
                await show(image, previews, of: url)
            } else if case .finished(let response) = event {
                if response.source == .network { meter.complete(response.byteCount) }
                return response
            } else if case .failed(let error) = event {
                meter.giveUp()
                throw error
            }
        }
        throw .cancelled
    }

    /// Tells of a partial picture.
    private func show(_ image: Image, _ number: Int, of url: String) async {
        let text =
            plan.isJSON
            ? JSON.object([
                ("url", .string(url)), ("preview", .integer(number)), ("width", .integer(image.size.width)),
                ("height", .integer(image.size.height)),
            ]).text : "preview  \(number): \(image.size)  \(Printable.text(url))"
        let bytes = try? await pool.run { [self] _ throws(EideticError) in try viewer?.bytes(for: image.pixels) ?? [] }
        display.write(Array("\(text)\n".utf8) + (bytes ?? []), on: .output)
    }

    /// The size to decode to: no larger than anybody will see it.
    private var wantedSize: PixelSize? {
        if let size = plan.size { return size }
        let seen = [sheet?.cell, viewer?.size].compactMap { $0 }
        guard let width = seen.map(\.width).max(), let height = seen.map(\.height).max() else { return nil }
        return PixelSize(width: width, height: height)
    }

    private func describe(_ response: ImageResponse) -> LoadOutcome.Picture {
        LoadOutcome.Picture(
            source: response.source,
            format: response.image.format,
            size: plan.size == nil ? response.image.sourceSize : response.image.size,
            bytes: response.byteCount
        )
    }

    /// Does with a picture what the plan wants; gives the bytes that show it on the terminal.
    private func use(_ response: ImageResponse, _ index: Int) async -> [UInt8] {
        if let error = response.storeError { flaw("\(plan.items[index].url) is not kept: \(error.message)") }
        if case .failed(let error) = response.revalidation {
            flaw("\(plan.items[index].url) is not refreshed: \(error.message)")
        }
        do throws(EideticError) {
            return try await pool.run { [self] _ throws(EideticError) in
                try writer?.write(response.image, original: response.originalBytes, name: plan.items[index].name)
                guard sheet != nil || viewer != nil else { return [] }
                let pixels = try response.image.decodedAtOnce().pixels
                try sheet?.place(pixels, at: index)
                return try viewer?.bytes(for: pixels) ?? []
            }
        } catch {
            if error.code != .cancelled { flaw(error.message) }
            return []
        }
    }

    private func flaw(_ reason: String) {
        display.flaw(reason)
        display.line("eidetic: \(Printable.text(reason))", on: .errors)
    }
}
