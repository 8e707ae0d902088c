import Eidetic
import EideticCore
import EideticStore

/// Prefetches what a command line names, from the main thread, and says how each went.
struct PrefetchRun {
    private let urls: [String]
    private let concurrency: Int
    private let destination: ImagePrefetcher.Destination
    private let cache: DiskCache.Configuration
    private let options: ImageOptions
    private let isJSON: Bool
    private let isExplained: Bool

    init(_ arguments: Arguments, urls: [String]) {
        var seen: Set<String> = []
        self.urls = urls.filter { seen.insert($0).inserted }
        concurrency = arguments[LoadCommand.concurrency] ?? 6
        destination = arguments.contains(PrefetchCommand.diskOnly) ? .disk : .memory
        cache = CacheLocation.configuration(arguments)
        options = LoadCommand.options(arguments).union(.waitStoreCache)
        isJSON = arguments.contains(CommonSettings.json)
        isExplained = arguments.contains(LoadCommand.explain)
    }

    /// Prefetches all; blocks until that is done or stopped.
    func perform() -> ExitStatus {
        let stop = StopSwitch()
        Interrupts.take { stop.stop($0) }
        let start = SystemTime().uptime
        let display = LoadDisplay(total: urls.count)
        do throws(EideticError) {
            // There is nothing to be done without a cache.
            _ = try DiskCache(cache)
        } catch {
            display.end()
            Report.problem(error.message)
            return .failure
        }
        let pipeline = LoadSession.pipeline(concurrency, cache, display)
        let requests = requests(display)
        let isDone = Monitor(false)
        stop.task = Task.detached {
            await prefetch(requests, pipeline, display)
            isDone.withLock { $0 = true }
            isDone.broadcast()
        }
        isDone.wait { $0 ? () : nil }
        display.end()
        return conclude(display.tally, stop.status, SystemTime().uptime - start)
    }

    /// The requests for all URLs that are URLs; the others are told of at once.
    private func requests(_ display: LoadDisplay) -> [(url: String, request: ImageRequest)] {
        var requests: [(url: String, request: ImageRequest)] = []
        for url in urls {
            do throws(EideticError) {
                requests.append((url, try ImageRequest(url, options: options)))
            } catch {
                let outcome = LoadOutcome(url: url, result: .failure(error), duration: .zero)
                display.finished(outcome, picture: [], asJSON: isJSON)
            }
        }
        return requests
    }

    private func prefetch(
        _ requests: [(url: String, request: ImageRequest)],
        _ pipeline: ImagePipeline,
        _ display: LoadDisplay
    ) async {
        // As they were given, since a request has its URL in the normal form.
        let names = Dictionary(requests.map { ($0.request, $0.url) }) { first, _ in first }
        let prefetcher = ImagePrefetcher(pipeline, destination: destination, width: concurrency)
        let group = prefetcher.prefetch(requests.map(\.request)) { request, result in
            if case .failure(let error) = result, error.code == .cancelled { return }
            tell(names[request] ?? request.name, result, display)
        }
        await withTaskCancellationHandler {
            _ = await group.finish()
        } onCancel: {
            group.cancel()
        }
    }

    private func tell(
        _ url: String,
        _ result: Result<PrefetchedPicture, EideticError>,
        _ display: LoadDisplay
    ) {
        var outcome = LoadOutcome(url: url, result: result.map(LoadOutcome.Picture.init), duration: .zero)
        if case .success(let picture) = result {
            outcome.duration = picture.record.duration
            if isExplained { outcome.record = picture.record }
            let bytes = picture.source == .network ? picture.byteCount.bytes : 0
            display.transferred(bytes, announced: bytes)
            if let reason = picture.reasonNotKept(by: destination) {
                display.flaw(reason)
                display.line(Printable.text("eidetic: \(url) is not kept: \(reason)"), on: .errors)
            }
        }
        display.finished(outcome, picture: [], asJSON: isJSON)
    }

    private func conclude(_ tally: LoadTally, _ stopped: ExitStatus?, _ duration: Duration) -> ExitStatus {
        let summary = "\(tally.text); \(tally.bytes) in \(Moments.text(duration))"
        if let stopped {
            Report.problem("stopped: \(summary)")
            return stopped
        }
        if !isJSON { TextStream.output.line(summary) }
        return tally.isFlawless ? .success : .failure
    }
}

extension PrefetchedPicture {
    /// Why the disk does not have it, for a picture that was waited for until it was stored; `nil` where it has.
    fileprivate func reasonNotKept(by destination: ImagePrefetcher.Destination) -> String? {
        if let storeError { return storeError.message }
        // To disk alone, what is not stored is no success.
        let isStored = destination == .disk || record.steps.contains { $0.stage == .store }
        return source == .network && !isStored ? "its server or an option forbids to store it" : nil
    }
}

extension LoadOutcome.Picture {
    fileprivate init(_ picture: PrefetchedPicture) {
        self.init(source: picture.source, format: picture.format, size: picture.size, bytes: picture.byteCount)
    }
}
