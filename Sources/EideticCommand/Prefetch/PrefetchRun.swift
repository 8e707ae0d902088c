import Eidetic
import EideticCore
import EideticStore

/// Prefetches what a command line names, from the main thread, and says how each went.
struct BatchPrefetcher {
    private let urls: [String]
    private let concurrency: Int
    private let destination: ImagePrefetcher.Destination
    private let cache: DiskCache.Configuration
    private let options: ImageOptions
    private let writesJSON: Bool
    private let explainsLoads: Bool

    init(_ arguments: Arguments, urls: [String]) {
        var seen: Set<String> = []
        self.urls = urls.filter { seen.insert($0).inserted }
        concurrency = arguments[LoadCommand.concurrency] ?? 6
        destination = arguments.contains(PrefetchCommand.diskOnly) ? .disk : .memory
        cache = CacheLocation.configuration(from: arguments)
        options = LoadCommand.options(arguments).union(.waitStoreCache)
        writesJSON = arguments.contains(CommonOptions.json)
        explainsLoads = arguments.contains(LoadCommand.explain)
    }

    /// Prefetches all; blocks until that is done or stopped.
    func run() -> ExitStatus {
        let canceller = TaskCanceller()
        SignalHandler.install { canceller.cancel(exitStatus: $0) }
        let start = SystemTime().uptime
        let display = ProgressDisplay(total: urls.count)
        do throws(EideticError) {
            // There is nothing to be done without a cache.
            _ = try DiskCache(cache)
        } catch {
            display.finish()
            Diagnostics.report(error.message)
            return .failure
        }
        let pipeline = LoadSession.pipeline(concurrency, cache, display)
        let requests = requests(display)
        let isDone = Monitor(false)
        canceller.task = Task.detached {
            await prefetch(requests, pipeline, display)
            isDone.withLock { $0 = true }
            isDone.broadcast()
        }
        isDone.wait { $0 ? () : nil }
        display.finish()
        return reportSummary(of: display.tally, stopStatus: canceller.exitStatus, duration: SystemTime().uptime - start)
    }

    /// The requests for all URLs that are URLs; the others are told of at once.
    private func makeRequests(display: ProgressDisplay) -> [(url: String, request: ImageRequest)] {
        var requests: [(url: String, request: ImageRequest)] = []
        for url in urls {
            do throws(EideticError) {
                requests.append((url, try ImageRequest(url, options: options)))
            } catch {
                let outcome = LoadOutcome(url: url, result: .failure(error), duration: .zero)
                display.report(outcome, graphics: [], asJSON: isJSON)
            }
        }
        return requests
    }

    private func prefetch(
        _ requests: [(url: String, request: ImageRequest)],
        pipeline: ImagePipeline,
        display: ProgressDisplay
    ) async {
        // As they were given, since a request has its URL in the normal form.
        let names = Dictionary(requests.map { ($0.request, $0.url) }) { first, _ in first }
        let prefetcher = ImagePrefetcher(pipeline: pipeline, destination: destination, maximumConcurrent: concurrency)
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

    private func report(
        url: String,
        result: Result<PrefetchResult, EideticError>,
        display: ProgressDisplay
    ) {
        var outcome = LoadOutcome(url: url, result: result.map(LoadOutcome.LoadedImage.init), duration: .zero)
        if case .success(let prefetched) = result {
            outcome.duration = prefetched.trace.duration
            if explainsLoads { outcome.record = prefetched.trace }
            let bytes = prefetched.source == .network ? prefetched.byteCount.bytes : 0
            display.addBytes(received: bytes, expected: bytes)
            if let reason = prefetched.reasonNotKept(by: destination) {
                display.addPartialFailure(reason)
                display.writeLine(TerminalText.sanitized("eidetic: \(url) is not kept: \(reason)"), to: .errors)
            }
        }
        display.report(outcome, graphics: [], asJSON: isJSON)
    }

    private func reportSummary(of tally: LoadTally, stopStatus stopped: ExitStatus?, duration: Duration) -> ExitStatus {
        let summary = "\(tally.text); \(tally.bytes) in \(TimeFormat.text(for: duration))"
        if let stopped {
            Diagnostics.report("stopped: \(summary)")
            return stopped
        }
        if !writesJSON { TextStream.output.writeLine(summary) }
        return tally.isSuccess ? .success : .failure
    }
}

extension PrefetchResult {
    /// Why the disk does not have it, for a picture that was waited for until it was stored; `nil` where it has.
    fileprivate func storeFailureReason(for destination: ImagePrefetcher.Destination) -> String? {
        if let storeError { return storeError.message }
        // To disk alone, what is not stored is no success.
        let isStored = destination == .disk || trace.steps.contains { $0.stage == .store }
        return source == .network && !isStored ? "its server or an option forbids to store it" : nil
    }
}

extension LoadOutcome.LoadedImage {
    fileprivate init(_ picture: PrefetchResult) {
        self.init(source: picture.source, format: picture.format, size: picture.size, bytes: picture.byteCount)
    }
}
