import Eidetic
import EideticCLI
import EideticCore
import EideticFetch
import EideticStore

/// The run of `eidetic prefetch` on the main thread.
struct PrefetchSession {
    private let urls: [String]
    private let concurrency: Int
    private let destination: ImagePrefetcher.Destination
    private let cache: DiskCache.Configuration
    private let options: ImageOptions
    private let cachePolicy: ImageRequest.CachePolicy
    private let network: NetworkArguments
    private let decodePolicy: DecodePolicy
    private let writesJSON: Bool
    private let isQuiet: Bool
    private let explainsLoads: Bool
    private let canceller = TaskCanceller()
    private let display: ProgressDisplay
    private let start = SystemTime().uptime

    /// Installs the signal handler and starts the display.
    ///
    /// - Throws: The errors of files with passwords.
    init(_ arguments: Arguments, urls: [String]) throws(EideticError) {
        var distinctURLs: Set<String> = []
        self.urls = urls.filter { distinctURLs.insert($0).inserted }
        concurrency = arguments[CommonOptions.jobs] ?? 6
        destination = arguments.contains(PrefetchCommand.diskOnly) ? .disk : .memory
        cache = CacheLocation.configuration(from: arguments)
        options = LoadCommand.imageOptions(from: arguments)
        cachePolicy = LoadCommand.cachePolicy(from: arguments)
        network = try NetworkArguments(arguments)
        decodePolicy = SandboxOption.policyOfLoads(from: arguments)
        writesJSON = arguments.contains(CommonOptions.json)
        isQuiet = arguments.contains(CommonOptions.quiet)
        explainsLoads = arguments.contains(LoadCommand.explain)
        // Before the display starts its thread, which inherits the signal mask.
        SignalHandler.install { [canceller] in canceller.cancel(exitStatus: $0) }
        display = ProgressDisplay(total: self.urls.count, isQuiet: arguments.contains(CommonOptions.quiet))
    }

    /// Prefetches all images; blocks until that is done or stopped.
    func run() -> ExitStatus {
        do throws(EideticError) {
            // Without a cache, prefetching is useless.
            _ = try DiskCache(cache)
        } catch {
            display.finish()
            Diagnostics.report(error)
            return .failure
        }
        let factory = PipelineFactory(
            concurrency: concurrency,
            cache: cache,
            network: network,
            decodePolicy: decodePolicy
        )
        let pipeline = factory.makePipeline(reportingTo: display)
        let requests = makeRequests()
        canceller.runAndWait {
            await prefetch(requests, pipeline: pipeline)
            await pipeline.finishWrites()
        }
        display.finish()
        return reportSummary(of: display.tally)
    }

    private func makeRequests() -> [(url: String, request: ImageRequest)] {
        urls.map { url in
            let resource = network.applied(to: ImageRequest.Resource(url: url))
            return (url, ImageRequest(resource, options: options, cachePolicy: cachePolicy))
        }
    }

    private func prefetch(_ requests: [(url: String, request: ImageRequest)], pipeline: ImagePipeline) async {
        // Outcomes contain the URLs as given in the list; requests contain normalised URLs.
        let names = Dictionary(requests.map { ($0.request, $0.url) }) { first, _ in first }
        // The downloader limits the downloads; more loads may wait for it, so that no host holds back the others.
        let prefetcher = ImagePrefetcher(
            pipeline: pipeline,
            destination: destination,
            maximumConcurrent: max(64, 2 * concurrency)
        )
        let group = prefetcher.prefetch(requests.map(\.request)) { request, result in
            if case .failure(let error) = result, error.code == .cancelled { return }
            report(result, url: names[request] ?? request.name)
        }
        await withTaskCancellationHandler {
            _ = await group.finish()
        } onCancel: {
            // A download that waits must not start in the slot of one that is cancelled first.
            pipeline.configuration.downloader.suspend()
            group.cancel()
        }
    }

    private func report(_ result: Result<ImagePrefetcher.Result, EideticError>, url: String) {
        var outcome = LoadOutcome(url: url, result: result.map(LoadOutcome.LoadedImage.init), duration: .zero)
        if case .success(let image) = result {
            outcome.duration = image.trace.duration
            if explainsLoads { outcome.trace = image.trace }
            let byteCount = image.source == .network ? image.byteCount.bytes : 0
            display.addBytes(received: byteCount, expected: byteCount)
            if let reason = image.storeFailureReason(for: destination) {
                display.addPartialFailure(reason)
                let line = "eidetic: \(TerminalText.abbreviated(url)) was not stored: \(reason)"
                display.writeLine(TerminalText.sanitized(line), to: .errors)
            }
        }
        display.report(outcome, graphics: [], asJSON: writesJSON)
    }

    private func reportSummary(of tally: LoadTally) -> ExitStatus {
        let summary = "\(tally.text); \(tally.bytes) in \(TimeFormat.text(for: SystemTime().uptime - start))"
        if let exitStatus = canceller.exitStatus {
            Diagnostics.report("stopped: \(summary)")
            return exitStatus
        }
        if !writesJSON, !isQuiet { TextStream.output.writeLine(summary) }
        return tally.isSuccess ? .success : .failure
    }
}

extension ImagePrefetcher.Result {
    /// Returns the reason why the image is not on disk; `nil` if it is.
    ///
    /// The result must be that of a request that waits for storage.
    fileprivate func storeFailureReason(for destination: ImagePrefetcher.Destination) -> String? {
        if let storeError { return storeError.message }
        // With the destination disk, a success means that the image was stored.
        let isStored = destination == .disk || trace.steps.contains { $0.stage == .store }
        return source == .network && !isStored ? "the server or an option forbids storing it" : nil
    }
}

extension LoadOutcome.LoadedImage {
    fileprivate init(_ image: ImagePrefetcher.Result) {
        self.init(source: image.source, format: image.format, size: image.size, bytes: image.byteCount)
    }
}
