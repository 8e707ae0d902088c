import EideticCore
import EideticTestSupport
import Glibc

extension Bench {
    /// A thumbnail by `eidetic convert`, against programs that do the same, each as a whole process.
    func programs(_ jpeg: [UInt8]) async throws {
        guard let eidetic = eideticProgram else { return }
        let folder = try TemporaryDirectory()
        let input = try folder.write(jpeg, to: "photograph.jpg"), small = folder.path("small")
        let ours = [eidetic, "convert", "--size", "400x400", input, small + ".jpg"]
        let others: [(name: String, goal: Double, command: [String])] = [
            ("vipsthumbnail", 1, ["vipsthumbnail", input, "--size", "400x400", "-o", small + "-vips.jpg"]),
            (
                "gdk-pixbuf-thumbnailer", 1.4,
                ["gdk-pixbuf-thumbnailer", "-s", "400", "file://" + input, small + "-gdk.png"]
            ),
            ("Pillow", 1, [Self.python, "-c", Self.pillow, input, small + "-pillow.jpg"]),
        ]
        for other in others {
            do {
                _ = try MeasuredProcess.run(other.command)
            } catch {
                printError("decode: a thumbnail by \(other.name): skipped: \(error.message)")
                continue
            }
            try await compare(
                Case("jpeg to 400 px, process", .milliseconds, goal: .ratio(other.goal)),
                with: other.name,
                ours: { _ = try MeasuredProcess.run(ours) },
                theirs: { _ = try MeasuredProcess.run(other.command) }
            )
        }
        let memory = try MeasuredProcess.memory(of: ours)
        report(
            Case("jpeg to 400 px, process, most memory", .bytes, goal: .value(35e6)),
            Samples(values: [Double(memory)])
        )
    }

    /// What the program has in memory while it waits for its input and has decoded nothing yet.
    func idleProgram() async throws {
        guard let eidetic = eideticProgram else { return }
        let folder = try TemporaryDirectory()
        // Nobody writes to it, so the program waits until it is killed.
        let list = folder.path("list")
        guard mkfifo(list, 0o600) == 0 else { throw UsageError(message: "no pipe: error \(errno)") }
        let program = try Subprocess(eidetic, ["load", "@" + list])
        var last = 0, same = 0
        while same < 10 {
            try await Task.sleep(for: .milliseconds(50))
            let now = try Self.residentBytes(program.identifier)
            same = now == last ? same + 1 : 0
            last = now
        }
        report(
            Case("idle process, all codecs available", .bytes, goal: .value(22e6)),
            Samples(values: [Double(last)])
        )
        program.kill()
        _ = await program.finish()
    }

    private static func residentBytes(_ process: pid_t) throws -> Int {
        let text = String(decoding: try FileSystem().contents(of: "/proc/\(process)/status"), as: UTF8.self)
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        let number = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
        guard let number else { throw UsageError(message: "process \(process) has ended") }
        return number << 10
    }

    /// The program named by `--eidetic=PATH`, or the one beside this.
    private var eideticProgram: String? {
        let path = arguments["eidetic"] ?? Self.programBesideThis
        guard MeasuredProcess.isInstalled(path) else {
            printError("decode: cases with processes: skipped: there is no \(path); --eidetic=PATH names another")
            return nil
        }
        return path
    }

    private static var programBesideThis: String {
        guard let own = realpath("/proc/self/exe", nil) else { return "eidetic" }
        defer { free(own) }
        return String(cString: own).split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/eidetic"
    }

    /// A Python that has Pillow: the first one, or Debian's where another hides it.
    private static var python: String {
        let finds = (try? MeasuredProcess.run(["python3", "-c", "import PIL"])) != nil
        return finds ? "python3" : "/usr/bin/python3"
    }

    private static let pillow = """
        import sys
        from PIL import Image
        picture = Image.open(sys.argv[1])
        picture.thumbnail((400, 400))
        picture.save(sys.argv[2])
        """
}
