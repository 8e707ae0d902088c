import Eidetic
import EideticCore
import EideticStore

/// A plan carried out from the main thread: opens what it needs, waits for the run, and says at the end what was done.
enum LoadSession {
    /// Carries out a plan; blocks until it is done or stopped.
    static func run(_ plan: LoadPlan, cache: DiskCache.Configuration) -> ExitStatus {
        let stop = StopSwitch()
        Interrupts.take { stop.stop($0) }
        let start = SystemTime().uptime
        let display = LoadDisplay(total: plan.total)
        let metrics = plan.transfer.metricsFile.map { _ in TransferMetrics() }
        let sheet = plan.sheet.map { _ in ContactSheet(count: plan.items.count) }
        do throws(EideticError) {
            let writer = try plan.directory.map { directory throws(EideticError) in
                try PictureWriter(directory: directory, isResized: plan.size != nil)
            }
            let pipeline = pipeline(plan.concurrency, cache, display, plan.transfer, metrics)
            let run = LoadRun(plan: plan, pipeline: pipeline, display: display, writer: writer, sheet: sheet)
            wait(for: run, stop)
        } catch {
            display.end()
            Report.problem(error.message)
            return .failure
        }
        let isDrawn = stop.status == nil && (sheet.map { write($0, to: plan.sheet ?? "-", display) } ?? false)
        if let metrics, let file = plan.transfer.metricsFile { write(metrics, to: file, display) }
        display.end()
        return conclude(display.tally, plan, stop.status, SystemTime().uptime - start, hasSheet: isDrawn)
    }

    /// Pictures are loaded also where there is no cache to keep them.
    static func pipeline(
        _ concurrency: Int,
        _ cache: DiskCache.Configuration,
        _ display: LoadDisplay,
        _ transfer: TransferPlan? = nil,
        _ metrics: TransferMetrics? = nil
    ) -> ImagePipeline {
        var settings = transfer?.configuration ?? ImagePipeline.Configuration.standardDownloads
        settings.maximumConcurrent = concurrency
        settings.minimumProgressInterval = .milliseconds(50)
        if let metrics { settings.onFinish = { metrics.note($0, $1) } }
        let downloader = Downloader(settings)
        downloader.isOffline = transfer?.isOffline ?? false
        var configuration = ImagePipeline.Configuration(downloader: downloader)
        do throws(EideticError) {
            configuration.diskCache = try DiskCache(cache)
        } catch {
            display.flaw(error.message)
            display.line("eidetic: \(Printable.text(error.message)); pictures are loaded without it", on: .errors)
        }
        configuration.memoryLimit = min(configuration.memoryLimit, .mebibytes(128))
        return ImagePipeline(configuration)
    }

    private static func wait(for run: LoadRun, _ stop: StopSwitch) {
        let isDone = Monitor(false)
        stop.task = Task.detached {
            await run.perform()
            isDone.withLock { $0 = true }
            isDone.broadcast()
        }
        isDone.wait { $0 ? () : nil }
    }

    /// Writes the contact sheet; gives whether that went well.
    private static func write(_ sheet: ContactSheet, to file: String, _ display: LoadDisplay) -> Bool {
        do throws(EideticError) {
            try FileBytes.write(try sheet.encoded(as: ImageFormat(fileName: file) ?? .png), to: file)
            return true
        } catch {
            display.flaw(error.message)
            display.line("eidetic: \(Printable.text("\(file): \(error.message)"))", on: .errors)
            return false
        }
    }

    private static func write(_ metrics: TransferMetrics, to file: String, _ display: LoadDisplay) {
        do throws(EideticError) {
            try FileBytes.write(metrics.bytes, to: file)
        } catch {
            display.flaw(error.message)
            display.line("eidetic: \(Printable.text("\(file): \(error.message)"))", on: .errors)
        }
    }

    private static func conclude(
        _ tally: LoadTally,
        _ plan: LoadPlan,
        _ stopped: ExitStatus?,
        _ duration: Duration,
        hasSheet: Bool
    ) -> ExitStatus {
        if let flawed = tally.flawed, flawed.count > 1 {
            Report.problem("\(flawed.count) pictures were not kept, written or refreshed; the first: \(flawed.reason)")
        }
        let summary = "\(tally.text); \(tally.bytes) in \(Moments.text(duration))"
        if let stopped {
            Report.problem("stopped: \(summary)")
            return stopped
        }
        if !plan.isJSON {
            TextStream.output.line(summary)
            if hasSheet, let sheet = plan.sheet, sheet != "-" { TextStream.output.line("contact sheet: \(sheet)") }
        }
        return tally.isFlawless ? .success : .failure
    }
}
