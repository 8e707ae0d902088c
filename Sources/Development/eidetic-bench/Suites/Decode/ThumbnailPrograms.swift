import EideticCore
import EideticTestSupport
import Glibc

extension Bench {
    /// Compares `eidetic convert` with other thumbnail programs, each as a whole process.
    func measureThumbnailPrograms(_ jpeg: [UInt8]) async throws {
        guard let eidetic = eideticProgram else { return }
        let folder = try TemporaryDirectory()
        let input = try folder.write(jpeg, to: "photograph.jpg")
        let small = folder.path(of: "small")
        let ours = [eidetic, "convert", "--overwrite", "--size", "400x400", input, small + ".jpg"]
        let competitors: [(name: String, goal: Double, command: [String])] = [
            ("vipsthumbnail", 1, ["vipsthumbnail", input, "--size", "400x400", "-o", small + "-vips.jpg"]),
            (
                "gdk-pixbuf-thumbnailer", 1.4,
                ["gdk-pixbuf-thumbnailer", "-s", "400", "file://" + input, small + "-gdk.png"]
            ),
            ("Pillow", 1, [Self.python, "-c", Self.pillowScript, input, small + "-pillow.jpg"]),
        ]
        for competitor in competitors {
            do {
                _ = try MeasuredProcess.run(competitor.command)
            } catch {
                printError("decode: a thumbnail by \(competitor.name): skipped: \(error.message)")
                continue
            }
            try await compare(
                BenchmarkCase("jpeg to 400 px, process", unit: .milliseconds, goal: .ratio(competitor.goal)),
                with: competitor.name,
                ours: { _ = try MeasuredProcess.run(ours) },
                theirs: { _ = try MeasuredProcess.run(competitor.command) }
            )
        }
        let memory = try MeasuredProcess.peakMemory(of: ours)
        report(
            BenchmarkCase("jpeg to 400 px, process, most memory", unit: .bytes, goal: .value(35e6)),
            samples: Samples(values: [Double(memory)])
        )
    }

    /// Measures the resident memory of a program that waits for input and has decoded nothing yet.
    func measureIdleMemory() async throws {
        guard let eidetic = eideticProgram else { return }
        let folder = try TemporaryDirectory()
        // Nothing is written to the pipe, so the program waits until it is killed.
        let list = folder.path(of: "list")
        guard mkfifo(list, 0o600) == 0 else { throw UsageError(message: "cannot create a named pipe: error \(errno)") }
        let program = try Subprocess("sh", arguments: ["-c", "exec \"$0\" load - <> \"$1\"", eidetic, list])
        var last = 0
        var unchangedCount = 0
        while unchangedCount < 10 {
            try await Task.sleep(for: .milliseconds(50))
            let current = try Self.residentBytes(of: program.identifier)
            unchangedCount = current == last ? unchangedCount + 1 : 0
            last = current
        }
        report(
            BenchmarkCase("idle process, all codecs available", unit: .bytes, goal: .value(22e6)),
            samples: Samples(values: [Double(last)])
        )
        program.kill()
        _ = await program.waitUntilExit()
    }

    private static func residentBytes(of process: pid_t) throws -> Int {
        let text = String(decoding: try FileSystem().contents(of: "/proc/\(process)/status"), as: UTF8.self)
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        let number = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
        guard let number else { throw UsageError(message: "process \(process) has ended") }
        return number << 10
    }

    /// The path of the program: the value of `--eidetic=PATH`, or the program beside this one; `nil` if it does not
    /// exist.
    private var eideticProgram: String? {
        let path = arguments["eidetic"] ?? Self.programBesideThis
        guard MeasuredProcess.isInstalled(path) else {
            printError("decode: cases with processes: skipped: \(path) not found; set its path with --eidetic=PATH")
            return nil
        }
        return path
    }

    private static var programBesideThis: String {
        (try? MeasuredProcess.path(ofProgramBesideThis: "eidetic")) ?? "eidetic"
    }

    /// A Python with Pillow: the first in `PATH`, or Debian's if that one lacks Pillow.
    private static var python: String {
        let finds = (try? MeasuredProcess.run(["python3", "-c", "import PIL"])) != nil
        return finds ? "python3" : "/usr/bin/python3"
    }

    private static let pillowScript = """
        import sys
        from PIL import Image
        image = Image.open(sys.argv[1])
        image.thumbnail((400, 400))
        image.save(sys.argv[2])
        """
}
