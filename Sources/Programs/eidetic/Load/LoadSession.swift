import Eidetic
import EideticCLI
import EideticCore
import EideticStore

/// The run of `eidetic load` on the main thread.
struct LoadSession {
    private let arguments: LoadArguments
    private let cache: DiskCache.Configuration
    private let sharedTier: (any SharedTier)?
    private let canceller = TaskCanceller()
    private let display: ProgressDisplay
    private let metrics: DownloadMetricsLog?
    private let sheet: ContactSheet?
    private let writer: ImageWriter?
    private let start = SystemTime().uptime

    /// Installs the signal handler and starts the display.
    ///
    /// - Throws: `limitExceeded` for too many images of a contact sheet; errors of the output directory.
    init(
        arguments: LoadArguments,
        cache: DiskCache.Configuration,
        sharedTier: (any SharedTier)?
    ) throws(EideticError) {
        self.arguments = arguments
        self.cache = cache
        self.sharedTier = sharedTier
        for file in [arguments.contactSheetFile, arguments.network.metricsFile] {
            try FileContents.checkUnused(file, overwrites: arguments.overwrites)
        }
        sheet = try arguments.contactSheetFile.map { _ throws(EideticError) in
            try ContactSheet(count: arguments.items.count)
        }
        writer = try arguments.output.map { output throws(EideticError) in
            try ImageWriter(output: output, arguments: arguments)
        }
        // Before the display starts its thread, which inherits the signal mask.
        SignalHandler.install { [canceller] in canceller.cancel(exitStatus: $0) }
        display = ProgressDisplay(total: arguments.urlCount, isQuiet: arguments.isQuiet)
        metrics = arguments.network.metricsFile.map { _ in DownloadMetricsLog() }
    }

    /// Loads all images; blocks until that is done or stopped.
    func run() -> ExitStatus {
        let loader = makeLoader()
        canceller.runAndWait { [arguments] in
            if arguments.decodePolicy == .sandboxed { await SandboxOption.report(asJSON: arguments.writesJSON) }
            await loader.run()
            await loader.pipeline.finishWrites()
        }
        let hasSheet = canceller.exitStatus == nil && writeSheet()
        writeMetrics()
        display.finish()
        return reportSummary(of: display.tally, hasSheet: hasSheet)
    }

    private func makeLoader() -> BatchLoader {
        let pipeline = PipelineFactory(
            concurrency: arguments.concurrency,
            cache: cache,
            sharedTier: sharedTier,
            network: arguments.network,
            decodePolicy: arguments.decodePolicy,
            metrics: metrics
        ).makePipeline(reportingTo: display)
        return BatchLoader(
            arguments: arguments,
            pipeline: pipeline,
            isReadOnly: cache.isReadOnly,
            display: display,
            writer: writer,
            sheet: sheet
        )
    }

    /// Writes the contact sheet.
    ///
    /// - Returns: `true` if there is a contact sheet and it was written; otherwise, `false`.
    private func writeSheet() -> Bool {
        guard let sheet, let file = arguments.contactSheetFile else { return false }
        return write(to: file) { () throws(EideticError) in
            try sheet.encode(as: ContactSheet.format(of: file) ?? .png)
        }
    }

    private func writeMetrics() {
        guard let metrics, let file = arguments.network.metricsFile else { return }
        _ = write(to: file) { metrics.bytes }
    }

    /// Writes a file and reports errors to the display.
    ///
    /// - Returns: `true` if the file was written; otherwise, `false`.
    private func write(to file: String, contents: () throws(EideticError) -> [UInt8]) -> Bool {
        do throws(EideticError) {
            try FileContents.write(try contents(), to: file, overwrites: arguments.overwrites)
            return true
        } catch {
            display.addPartialFailure(error.message)
            display.writeLine("eidetic: \(TerminalText.sanitized("\(file): \(error.message)"))", to: .errors)
            return false
        }
    }

    private func reportSummary(of tally: LoadTally, hasSheet: Bool) -> ExitStatus {
        if let failures = tally.partialFailures, failures.count > 1 {
            Diagnostics.report(
                "\(failures.count) images were not stored, written or refreshed; the first: \(failures.firstReason)"
            )
        }
        let summary = "\(tally.text); \(tally.bytes) in \(TimeFormat.text(for: SystemTime().uptime - start))"
        if let exitStatus = canceller.exitStatus {
            Diagnostics.report("stopped: \(summary)")
            return exitStatus
        }
        if !arguments.writesJSON, !arguments.isQuiet {
            TextStream.output.writeLine(summary)
            if hasSheet, let file = arguments.contactSheetFile, file != "-" {
                TextStream.output.writeLine("contact sheet: \(file)")
            }
        }
        return tally.isSuccess ? .success : .failure
    }
}
