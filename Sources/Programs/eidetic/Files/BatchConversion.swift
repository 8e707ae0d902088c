import EideticCodecs
import EideticCLI
import EideticCore
import Glibc

/// The conversion of files on all processors.
struct BatchConversion: Sendable {
    /// A file that was written.
    private struct Result {
        let path: String
        let size: PixelSize
        let format: ImageFormat
        let bytes: ByteCount
        /// A Boolean value indicating whether a part of the image is missing, because its file is damaged.
        let isPartial: Bool
        /// The parts of the input that the file has not.
        let losses: [String]
    }

    private struct Progress {
        var finished = 0
        var failed = 0
        var left = 0
        var bytes = ByteCount.zero
    }

    private let arguments: Arguments
    private let conversion: ImageConversion
    private let output: ConversionOutput
    private let files: [InputFiles.File]
    private let showsProgress: Bool
    private let progress = Monitor(Progress())

    /// Creates a conversion of the files of a valid command line: to `--out`, in place, or to the last one.
    init(_ arguments: Arguments, files: [InputFiles.File]) {
        self.arguments = arguments
        conversion = ImageConversion(arguments)
        let place: ConversionOutput.Place
        if let output = arguments[ConvertCommand.output] {
            let template = arguments[ConvertCommand.template]
            place = ConversionOutput.place(named: output, template: template, fileCount: files.count)
            self.files = files
        } else if arguments.contains(ConvertCommand.inPlace) {
            place = .inputs
            self.files = files
        } else {
            place = .file(files.last?.path ?? "-")
            self.files = files.dropLast()
        }
        output = ConversionOutput(
            to: place,
            overwrites: arguments.contains(CommonOptions.overwrite),
            inputs: self.files.map(\.path)
        )
        let isWatched = TextStream.errors.isTerminal && Terminal.supportsRedraw
        showsProgress = isWatched && files.count > 1 && !arguments.contains(CommonOptions.quiet)
    }

    /// Converts the files; blocks until all of them are converted or have failed.
    func run() -> ExitStatus {
        let start = SystemTime().uptime
        if let duration = arguments[FrameOptions.animate] {
            // The only input may have been a list that cannot be read.
            guard let first = files.first else { return .failure }
            convert(first, name: "", number: 1) { _ throws(EideticError) in
                var sources: [ImageConversion.Source] = []
                for file in files { sources.append(try source(of: file)) }
                return [try ImageConversion.animation(of: sources, duration: duration)]
            }
            return progress.withLock(\.failed) == 0 ? .success : .failure
        }
        let processors = Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        let pool = WorkPool(name: "convert", maximumThreadCount: arguments[CommonOptions.jobs] ?? processors)
        var names: [String: UniqueFileNames] = [:]
        for (index, file) in files.enumerated() {
            let name = names[file.folder, default: UniqueFileNames()].next(forFile: file.path)
            pool.enqueue {
                // Whoever reads the output may have seen enough (`| head`).
                guard TextStream.output.failure == nil else { return skip() }
                convert(file, name: name, number: index + 1) { file throws(EideticError) in
                    let source = try source(of: file)
                    return arguments.contains(FrameOptions.frames) ? ImageConversion.frames(of: source) : [source]
                }
            }
        }
        let result = progress.wait { $0.finished == files.count ? $0 : nil }
        if showsProgress { TextStream.errors.write(Array("\r\u{1b}[J".utf8)) }
        reportSummary(of: result, duration: SystemTime().uptime - start)
        return result.failed == 0 ? .success : .failure
    }

    private func reportSummary(of result: Progress, duration: Duration) {
        if case .file = output.place { return }
        if arguments.contains(CommonOptions.quiet) || arguments.contains(CommonOptions.json) { return }
        let success = "\(files.count - result.failed) of \(files.count) images converted"
        let left = result.left == 0 ? "" : ", \(result.left) not written, because the file exists"
        TextStream.output.writeLine("\(success)\(left); \(result.bytes) in \(TimeFormat.text(for: duration))")
    }

    /// Converts a file, reports the results, and counts it.
    private func convert(
        _ file: InputFiles.File,
        name: String,
        number: Int,
        images: (InputFiles.File) throws(EideticError) -> [ImageConversion.Source]
    ) {
        var results: [Result] = [], failure: EideticError?
        do throws(EideticError) {
            for (index, image) in try images(file).enumerated() {
                let frame = arguments.contains(FrameOptions.frames) ? index + 1 : nil
                results.append(try write(image, of: file, name: name, number: number, frame: frame))
            }
        } catch {
            failure = error
        }
        report(results, failure: failure, of: file.path)
        progress.withLock { progress in
            progress.finished += 1
            progress.failed += failure == nil ? 0 : 1
            progress.left += failure?.isExistingFile == true ? 1 : 0
            progress.bytes = results.reduce(progress.bytes) { $0 + $1.bytes }
            // Within the lock, so that no earlier number is shown behind a later one, or behind the last line.
            if showsProgress {
                TextStream.errors.write(Array("\r\u{1b}[J\(progress.finished) of \(files.count)".utf8))
            }
        }
        progress.signal()
    }

    /// Counts a file that is not converted.
    private func skip() {
        progress.withLock { progress in
            progress.finished += 1
            progress.failed += 1
        }
        progress.signal()
    }

    private func report(_ results: [Result], failure: EideticError?, of input: String) {
        if arguments.contains(CommonOptions.json) {
            let values = results.map(Optional.some) + (failure == nil ? [] : [nil])
            for result in values {
                let error = result == nil ? failure : nil
                let members: [(name: String, value: JSON)] = [
                    ("input", .string(input)), ("output", .optional(result?.path)),
                    ("format", .optional(result?.format.rawValue)), ("width", .optional(result?.size.width)),
                    ("height", .optional(result?.size.height)), ("bytes", .optional(result?.bytes.bytes)),
                    ("partial", result.map { .bool($0.isPartial) } ?? .null),
                    ("lost", result.map { .array($0.losses.map { .string($0) }) } ?? .null),
                    ("error", .optional(error?.message)), ("code", .optional(error?.code.description)),
                ]
                TextStream.output.writeLine(JSON.object(members).text)
            }
            TextStream.output.flush()
        } else if let failure {
            Diagnostics.report(failure)
        } else if let result = results.first {
            if result.isPartial {
                Diagnostics.report("\(input): a part of the image is missing: the file is damaged, or ends too early")
            }
            guard !result.losses.isEmpty else { return }
            let losses = result.losses.joined(separator: ", ")
            Diagnostics.report("\(input): not kept in \(result.format.displayName): \(losses)")
        }
    }

    /// Reads, decodes and changes the image in a file.
    private func source(of file: InputFiles.File) throws(EideticError) -> ImageConversion.Source {
        try ConvertCommand.named(file.path) { () throws(EideticError) in
            let bytes = try FileContents.readImage(file.path)
            return try conversion.source(from: bytes, target: arguments[EncodingOptions.format] ?? output.format)
        }
    }

    private func write(
        _ image: ImageConversion.Source,
        of file: InputFiles.File,
        name: String,
        number: Int,
        frame: Int?
    ) throws(EideticError) -> Result {
        var format = ImageFormat.png
        let bytes = try ConvertCommand.named(file.path) { () throws(EideticError) -> [UInt8] in
            format = try self.format(of: image.image)
            return try conversion.encode(image, as: format)
        }
        let size = image.image.size
        let values = OutputTemplate.Values(name: name, size: size, number: number, format: format)
        let path = output.path(for: file, values: values, frame: frame)
        try ConvertCommand.named(path) { () throws(EideticError) in try output.write(bytes, to: path, of: file.path) }
        return Result(
            path: path,
            size: size,
            format: format,
            bytes: ByteCount(bytes.count),
            isPartial: image.image.isPartial,
            losses: image.losses
        )
    }

    private func format(of image: Image) throws(EideticError) -> ImageFormat {
        if let format = arguments[EncodingOptions.format] ?? output.format { return format }
        guard case .inputs = output.place else { return image.ownEncodableFormat }
        guard ImageEncoder.supportedFormats.contains(image.format) else {
            throw EideticError(.unsupportedFormat, message: "\(image.format.displayName) cannot be written; use --out")
        }
        return image.format
    }
}

extension Image {
    /// The format in which the image is encoded again: its own, if that can hold it.
    var ownEncodableFormat: ImageFormat {
        guard ImageEncoder.supportedFormats.contains(format) else { return .png }
        // A transform may have made it transparent.
        return format == .jpeg && pixels.alpha != .opaque ? .png : format
    }
}
