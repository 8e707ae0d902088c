import EideticCodecs
import EideticCLI
import EideticCore
import Glibc

/// The conversion of many files on all processors.
struct BatchConversion: Sendable {
    private struct Progress {
        var finished = 0
        var failed = 0
        var bytes = ByteCount.zero
    }

    private let conversion: ImageConversion
    private let format: ImageFormat?
    private let writesFrames: Bool
    private let directory: String
    private let showsProgress = TextStream.errors.isTerminal && Terminal.supportsRedraw
    private let progress = Monitor(Progress())

    init(_ arguments: Arguments, directory: String) {
        conversion = ImageConversion(arguments)
        format = arguments[EncodingOptions.format]
        writesFrames = arguments.contains(FrameOptions.frames)
        self.directory = directory
    }

    /// Converts files; blocks until all of them are converted or have failed.
    func run(_ paths: [String]) -> ExitStatus {
        do throws(SystemError) {
            try FileSystem().makeDirectories(directory, mode: 0o755)
        } catch {
            Diagnostics.report("\(directory): \(FileContents.error(for: error).message)")
            return .failure
        }
        let start = SystemTime().uptime
        let pool = WorkPool(name: "convert", maximumThreadCount: Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
        var names = UniqueFileNames()
        for path in paths {
            let name = names.next(for: "file://-/" + Self.escaped(path))
            pool.enqueue { convert(path, name: name, count: paths.count) }
        }
        let result = progress.wait { $0.finished == paths.count ? $0 : nil }
        if showsProgress { TextStream.errors.write(Array("\r\u{1b}[J".utf8)) }
        let time = TimeFormat.text(for: SystemTime().uptime - start)
        let success = "\(paths.count - result.failed) of \(paths.count) images converted"
        TextStream.output.writeLine("\(success); \(result.bytes) in \(time)")
        return result.failed == 0 ? .success : .failure
    }

    private func convert(_ path: String, name: String, count: Int) {
        var written = ByteCount.zero, failure: EideticError?
        do throws(EideticError) {
            written = try write(ConvertCommand.source(at: path, for: conversion), path: path, name: name)
        } catch {
            failure = error
        }
        if let failure { Diagnostics.report(failure.message) }
        progress.withLock { progress in
            progress.finished += 1
            progress.failed += failure == nil ? 0 : 1
            progress.bytes = progress.bytes + written
            // Within the lock, so that no earlier number is shown behind a later one, or behind the last line.
            if showsProgress { TextStream.errors.write(Array("\r\u{1b}[J\(progress.finished) of \(count)".utf8)) }
        }
        progress.signal()
    }

    /// Writes an image, or each of its frames, and returns the number of bytes.
    private func write(
        _ source: ImageConversion.Source,
        path: String,
        name: String
    ) throws(EideticError) -> ByteCount {
        let format = format ?? source.image.ownEncodableFormat
        let target = "\(directory)/\(name).\(format.fileExtension)"
        let parts = writesFrames ? ImageConversion.frames(of: source) : [source]
        var count = ByteCount.zero
        for (index, part) in parts.enumerated() {
            let bytes = try ConvertCommand.named(path) { () throws(EideticError) in
                try conversion.encode(part, as: format)
            }
            let file = writesFrames ? ConvertCommand.numbered(target, number: index + 1) : target
            try ConvertCommand.named(file) { () throws(EideticError) in try FileContents.replace(file, with: bytes) }
            count = count + ByteCount(bytes.count)
        }
        return count
    }

    /// Returns a path in which the characters that have a meaning in URLs are escaped.
    private static func escaped(_ path: String) -> String {
        path.unicodeScalars.map { ["%", "?", "#"].contains($0) ? "%" + String($0.value, radix: 16) : String($0) }
            .joined()
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
