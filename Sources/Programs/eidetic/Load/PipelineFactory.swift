import Eidetic
import EideticCLI
import EideticCore
import EideticFetch
import EideticStore

/// A factory for the pipelines of `eidetic load` and `eidetic prefetch`.
struct PipelineFactory {
    /// The maximum number of concurrent downloads.
    let concurrency: Int
    let cache: DiskCache.Configuration
    /// The tier that several machines share.
    var sharedTier: (any SharedTier)?
    /// The network options of the command line.
    var network: NetworkArguments?
    /// The process in which images are decoded.
    var decodePolicy = DecodePolicy.automatic
    var metrics: DownloadMetricsLog?

    /// Creates a pipeline; without a disk cache if it cannot be opened, which is reported to the display.
    func makePipeline(reportingTo display: ProgressDisplay) -> ImagePipeline {
        var configuration = ImagePipeline.Configuration(downloader: makeDownloader())
        do throws(EideticError) {
            configuration.diskCache = try DiskCache(cache)
        } catch {
            display.addPartialFailure(error.message)
            let message = TerminalText.sanitized(error.message)
            display.writeLine("eidetic: \(message); images are loaded without the cache", to: .errors)
        }
        configuration.freshness = network?.isHTTP == true ? .http : .maximumAge
        configuration.sharedTier = sharedTier
        configuration.decodePolicy = decodePolicy
        return ImagePipeline(configuration)
    }

    private func makeDownloader() -> Downloader {
        var configuration = network?.configuration ?? ImagePipeline.Configuration().downloads
        configuration.maximumConcurrent = concurrency
        configuration.minimumProgressInterval = .milliseconds(50)
        if let metrics { configuration.onFinish = { metrics.append(request: $0, result: $1) } }
        let downloader = Downloader(configuration)
        downloader.isOffline = network?.isOffline ?? false
        return downloader
    }
}
