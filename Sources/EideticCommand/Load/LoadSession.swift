import Eidetic
import EideticCore
import EideticStore

/// A plan carried out from the main thread: opens what it needs, waits for the run, and says at the end what was done.
enum LoadSession {
    /// Carries out a plan; blocks until it is done or stopped.
    static func run(_ plan: LoadArguments, cache: DiskCache.Configuration) -> ExitStatus {
        let canceller = TaskCanceller()
        SignalHandler.install { canceller.cancel(exitStatus: $0) }
        let start = SystemTime().uptime
        let display = ProgressDisplay(total: plan.urlCount)
        let metrics = plan.network.metricsFile.map { _ in DownloadMetricsLog() }
        let sheet = plan.contactSheetFile.map { _ in ContactSheet(count: plan.items.count) }
        do throws(EideticError) {
            let writer = try plan.outputDirectory.map { directory throws(EideticError) in
                try ImageWriter(directory: directory, isResized: plan.size != nil)
            }
            let pipeline = pipeline(plan.concurrency, cache, display, plan.network, metrics)
            let run = BatchLoader(plan: plan, pipeline: pipeline, display: display, writer: writer, sheet: sheet)
            wait(for: run, canceller)
        } catch {
            display.finish()
            Diagnostics.report(error.message)
            return .failure
        }
        let isDrawn =
            canceller.exitStatus == nil
            && (sheet.map { write($0, to: plan.contactSheetFile ?? "-", display: display) } ?? false)
        if let metrics, let file = plan.network.metricsFile { write(metrics, to: file, display: display) }
        display.finish()
        return reportSummary(
            of: display.tally,
            arguments: plan,
            stopStatus: canceller.exitStatus,
            duration: SystemTime().uptime - start,
            hasSheet: isDrawn
        )
    }

    /// Pictures are loaded also where there is no cache to keep them.
    static func makePipeline(
        concurrency: Int,
        cache: DiskCache.Configuration,
        display: ProgressDisplay,
        network transfer: NetworkArguments? = nil,
        metrics: DownloadMetricsLog? = nil
    ) -> ImagePipeline {
        var settings = transfer?.configuration ?? ImagePipeline.Configuration.standardDownloaderConfiguration
        settings.maximumConcurrent = concurrency
        settings.minimumProgressInterval = .milliseconds(50)
        if let metrics { settings.onFinish = { metrics.append(request: $0, result: $1) } }
        let downloader = Downloader(settings)
        downloader.isOffline = transfer?.isOffline ?? false
        var configuration = ImagePipeline.Configuration(downloader: downloader)
        do throws(EideticError) {
            configuration.diskCache = try DiskCache(cache)
        } catch {
            display.addPartialFailure(error.message)
            display.writeLine(
                "eidetic: \(TerminalText.sanitized(error.message)); pictures are loaded without it",
                to: .errors
            )
        }
        configuration.memoryLimit = min(configuration.memoryLimit, .mebibytes(128))
        return ImagePipeline(configuration)
    }

    private static func wait(for run: BatchLoader, canceller stop: TaskCanceller) {
        let isDone = Monitor(false)
        stop.task = Task.detached {
            await run.run()
            isDone.withLock { $0 = true }
            isDone.broadcast()
        }
        isDone.wait { $0 ? () : nil }
    }

    /// Writes the contact sheet; gives whether that went well.
    private static func write(_ sheet: ContactSheet, to file: String, display: ProgressDisplay) -> Bool {
        do throws(EideticError) {
            try FileContents.write(try sheet.encode(as: ImageFormat(fileName: file) ?? .png), to: file)
            return true
        } catch {
            display.addPartialFailure(error.message)
            display.writeLine("eidetic: \(TerminalText.sanitized("\(file): \(error.message)"))", to: .errors)
            return false
        }
    }

    private static func write(_ metrics: DownloadMetricsLog, to file: String, display: ProgressDisplay) {
        do throws(EideticError) {
            try FileContents.write(metrics.bytes, to: file)
        } catch {
            display.addPartialFailure(error.message)
            display.writeLine("eidetic: \(TerminalText.sanitized("\(file): \(error.message)"))", to: .errors)
        }
    }

    private static func reportSummary(
        of tally: LoadTally,
        arguments plan: LoadArguments,
        stopStatus stopped: ExitStatus?,
        duration: Duration,
        hasSheet: Bool
    ) -> ExitStatus {
        if let flawed = tally.partialFailures, flawed.count > 1 {
            Diagnostics.report(
                "\(flawed.count) pictures were not kept, written or refreshed; the first: \(flawed.reason)"
            )
        }
        let summary = "\(tally.text); \(tally.bytes) in \(TimeFormat.text(for: duration))"
        if let stopped {
            Diagnostics.report("stopped: \(summary)")
            return stopped
        }
        if !plan.writesJSON {
            TextStream.output.writeLine(summary)
            if hasSheet, let sheet = plan.contactSheetFile, sheet != "-" {
                TextStream.output.writeLine("contact sheet: \(sheet)")
            }
        }
        return tally.isSuccess ? .success : .failure
    }
}
