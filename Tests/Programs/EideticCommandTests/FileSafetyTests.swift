import EideticCodecs
import EideticCore
import EideticTestSupport
import Glibc
import Testing

@Suite("Files that exist", .timeLimit(.minutes(2)))
struct FileSafetyTests {
    private let directory: TemporaryDirectory
    private let origin: ScriptedOrigin

    init() throws {
        directory = try TemporaryDirectory(named: "safety")
        // Each URL is an image of another width, and /new.png changes with each request.
        let counter = Guarded(0)
        origin = try ScriptedOrigin { request in
            let count = counter.withLock { count in
                count += 1
                return count
            }
            let length = request.path == "/new.png" ? 20 + count : request.path.utf8.count
            let png = (try? TestImages.encoded(as: .png, width: length, height: 8)) ?? []
            return [.response(200, headers: ["Content-Type": "image/png"], body: png)]
        }
    }

    private func eidetic(_ words: [String], input: [UInt8] = []) async throws -> Subprocess.Result {
        try await Subprocess.run(EideticProgram.path, arguments: words, directory: directory.path, input: input)
    }

    private func load(_ words: String...) async throws -> Subprocess.Result {
        try await eidetic(["load", "--no-store", "--cache-dir", directory.path(of: "cache")] + words)
    }

    private func width(of name: String) throws -> Int? {
        try ImageDecoder.header(of: try directory.contents(of: name))?.size.width
    }

    private func names(in folder: String) throws -> [String] {
        try FileSystem().entryNames(in: directory.path(of: folder)).filter { $0 != ".eidetic-load" }.sorted()
    }

    // MARK: convert

    @Test("F05 convert never replaces an input without --in-place, not even with --overwrite")
    func inputs() async throws {
        let original = try TestImages.encoded(as: .jpeg, width: 200, height: 150)
        try directory.write(original, to: "photos/a.jpg")
        #expect(symlink("a.jpg", directory.path(of: "photos/link.jpg")) == 0)
        for words in [
            ["--out", "photos", "--size", "100x100", "photos/a.jpg"],
            ["--out", "photos", "--overwrite", "--size", "100x100", "photos/a.jpg"],
            ["--overwrite", "photos/a.jpg", "./photos/../photos/a.jpg"],
            ["--overwrite", "photos/a.jpg", "photos/link.jpg"],
            ["--overwrite", "--out", "photos/a.jpg", "photos/a.jpg"],
        ] {
            let result = try await eidetic(["convert"] + words)
            #expect(result.status == .exited(1), "\(words)")
            #expect(result.errorText.contains("the file is an input; only --in-place replaces it"))
            #expect(try directory.contents(of: "photos/a.jpg") == original)
        }
        #expect(chmod(directory.path(of: "photos/a.jpg"), 0o640) == 0)
        let result = try await eidetic(["convert", "--in-place", "--size", "100x100", "photos/link.jpg"])
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(try width(of: "photos/a.jpg") == 100)
        var options = EncodeOptions()
        options.metadata = ImageMetadata(xmp: Array("<x:xmpmeta/>".utf8))
        let image = try TestImages.gradient(width: 40, height: 30)
        try directory.write(try ImageEncoder.encode(image, as: .jpeg, options: options), to: "x.jpg")
        #expect(try await eidetic(["convert", "--in-place", "--size", "9x9", "x.jpg"]).status == .exited(0))
        #expect(try ImageMetadata(of: directory.contents(of: "x.jpg")).xmp == options.metadata?.xmp)
        #expect(try FileSystem().linkStatus(of: directory.path(of: "photos/link.jpg")).kind == .symbolicLink)
        #expect(try FileSystem().status(of: directory.path(of: "photos/a.jpg")).permissions == 0o640)
        #expect(try names(in: "photos") == ["a.jpg", "link.jpg"])
    }

    @Test("F05 the second match of a glob is no OUT: a file that exists stays without --overwrite")
    func globs() async throws {
        let bytes = try TestImages.encoded(as: .png)
        try directory.write(try TestImages.encoded(as: .png, width: 9, height: 9), to: "a.png")
        try directory.write(bytes, to: "b.png")
        let result = try await eidetic(["convert", "a.png", "b.png"])
        #expect(result.status == .exited(1))
        #expect(result.errorText == "eidetic: b.png: the file exists; --overwrite replaces it\n")
        #expect(try directory.contents(of: "b.png") == bytes)
        #expect(try await eidetic(["convert", "--overwrite", "a.png", "b.png"]).status == .exited(0))
        #expect(try width(of: "b.png") == 9)
    }

    @Test("F05 --out leaves files that exist, and says how many")
    func leftFiles() async throws {
        for name in ["a", "b", "c"] { try directory.write(try TestImages.encoded(as: .png), to: "\(name).png") }
        try directory.write([1], to: "out/b.png")
        let words = ["convert", "--out", "out", "--size", "10x10", "a.png", "b.png"]
        let first = try await eidetic(words)
        #expect(first.status == .exited(1))
        #expect(first.outputText.hasPrefix("1 of 2 images converted, 1 not written, because the file exists; "))
        #expect(try directory.contents(of: "out/b.png") == [1])
        let again = try await eidetic(words + ["c.png"])
        #expect(again.outputText.hasPrefix("1 of 3 images converted, 2 not written, because the file exists; "))
        #expect(try await eidetic(words + ["--overwrite"]).status == .exited(0))
        #expect(try width(of: "out/b.png") == 10)
    }

    @Test("F05 two inputs never become one file, whatever their names and --out-template say")
    func equalNames() async throws {
        try directory.write(try TestImages.encoded(as: .png, width: 20, height: 8), to: "x/a.png")
        try directory.write(try TestImages.encoded(as: .png, width: 30, height: 8), to: "y/a.png")
        let numbered = try await eidetic(["convert", "--out", "out", "x/a.png", "y/a.png"])
        #expect(numbered.status == .exited(0), "\(numbered.errorText)")
        #expect(try width(of: "out/a.png") == 20 && width(of: "out/a-2.png") == 30)
        let words = ["convert", "--overwrite", "--out", "same", "--out-template", "x.{ext}", "x/a.png", "y/a.png"]
        let result = try await eidetic(words)
        #expect(result.status == .exited(1))
        #expect(result.errorText == "eidetic: same/x.png: two images have this name\n")
    }

    // MARK: load

    @Test("L26 a URL replaces its own file; another URL, and a file of no record, need --overwrite")
    func owners() async throws {
        let url = "\(origin.url)/new.png", other = "\(origin.url)/other/new.png"
        #expect(try await load("--out", "out", url).status == .exited(0))
        let first = try width(of: "out/new.png")
        #expect(try await load("--out", "out", url).status == .exited(0))
        #expect(try width(of: "out/new.png") != first)
        let kept = try directory.contents(of: "out/new.png")
        let result = try await load("--out", "out", other)
        #expect(result.status == .exited(1))
        #expect(
            result.errorText.contains("out/new.png: the file exists; --overwrite replaces it, which came from \(url)")
        )
        #expect(result.outputText.contains("; 1 not written, because the file exists"))
        #expect(try directory.contents(of: "out/new.png") == kept)
        // In one list both have names, and the first one keeps its own.
        #expect(try await load("--out", "out", other, url).status == .exited(0))
        #expect(try names(in: "out") == ["new-2.png", "new.png"])
        #expect(try width(of: "out/new-2.png") == "/other/new.png".utf8.count)
        try FileSystem().unlink(directory.path(of: "out/.eidetic-load"))
        #expect(try await load("--out", "out", url).status == .exited(1))
        #expect(try await load("--out", "out", "--overwrite", url).status == .exited(0))
    }

    @Test("L26 URLs that differ in a query or an escape never share a file, and each is what --continue reports")
    func similarURLs() async throws {
        let urls = ["a.jpg", "a.jpg?w=1", "%61.jpg"].map { "\(origin.url)/\($0)" }
        for url in urls { _ = try await load("--out", "out", url) }
        #expect(try width(of: "out/a.png") == "/a.jpg".utf8.count)
        let all = try await load("--json", "--continue", "--out", "out", urls[2], urls[1], urls[0])
        #expect(all.status == .exited(0))
        let files = try all.lines(FileLine.self).reduce(into: [:]) { $0[$1.url] = $1.file }
        #expect(files[urls[0]] == "out/a.png" && Set(files.values).count == 3)
        #expect(try width(of: files[urls[1]] ?? "") == "/a.jpg?w=1".utf8.count)
    }

    private struct FileLine: Decodable {
        let url: String
        let file: String
    }

    @Test("C18 a FIFO, a link or a hard link under the name of the record is replaced and never opened")
    func recordNames() async throws {
        let out = directory.path(of: "out"), record = "\(out)/.eidetic-load"
        try FileSystem().makeDirectories(out)
        try directory.write(Array("precious".utf8), to: "victim")
        let obstacles: [() -> Int32] = [
            { mkfifo(record, 0o600) }, { symlink("../victim", record) },
            { link(directory.path(of: "victim"), record) },
        ]
        for (index, make) in obstacles.enumerated() {
            unlink(record)
            #expect(make() == 0)
            #expect(try await load("--out", "out", "\(origin.url)/\(index).png").status == .exited(0))
            #expect(try directory.contents(of: "victim") == Array("precious".utf8))
            #expect(try FileSystem().linkStatus(of: record).kind == .regular)
        }
    }

    @Test("C18 a FIFO that is read by name is refused at once, and a pipe of the shell is read")
    func fifos() async throws {
        let shared = "/dev/shm/eidetic-\(getpid())-fifo.png"
        defer { unlink(shared) }
        for path in [directory.path(of: "fifo.png"), shared] { #expect(mkfifo(path, 0o600) == 0) }
        for words in [
            ["inspect", "fifo.png"], ["convert", "fifo.png", "out.png"], ["load", "@fifo.png"], ["inspect", shared],
            ["cache", "put", "http://a/", "fifo.png"], ["load", "--cacert", "fifo.png", "https://127.0.0.1:1/"],
        ] {
            let result = try await eidetic(words + (words[0] == "cache" ? ["--cache-dir", "cache"] : []))
            #expect(
                result.status == .exited(1) && result.errorText.contains("fifo.png: not a regular file"),
                "\(words)"
            )
        }
        let png = try TestImages.encoded(as: .png)
        let piped = try await Subprocess.run(
            "sh",
            arguments: ["-c", "cat | \"$0\" inspect /dev/stdin", EideticProgram.path],
            input: png
        )
        #expect(piped.outputText.hasPrefix("/dev/stdin: PNG, 64x48, "))
    }

    @Test("C18 what is in the way of a file by name is never opened: a FIFO does not hold up the command")
    func occupiedFiles() async throws {
        try directory.write(try TestImages.encoded(as: .png), to: "a.png")
        #expect(mkfifo(directory.path(of: "fifo.jpg"), 0o600) == 0)
        for words in [
            ["convert", "a.png", "fifo.jpg"], ["convert", "--out", "fifo.jpg", "a.png"],
            ["load", "--cache-dir", "c", "--out", "fifo.jpg", "\(origin.url)/a.png"],
            ["load", "--cache-dir", "c", "--contact-sheet", "fifo.jpg", "\(origin.url)/a.png"],
            ["load", "--cache-dir", "c", "--metrics", "fifo.jpg", "\(origin.url)/a.png"],
        ] {
            let result = try await eidetic(words)
            #expect(result.status == .exited(1) && result.errorText.contains("fifo.jpg: the file exists"), "\(words)")
        }
        #expect(try await eidetic(["convert", "a.png", "/dev/null", "--format", "jpeg"]).status == .exited(0))
    }

    // MARK: cache

    @Test("C08 a query of the cache creates nothing: a directory that does not exist is an empty cache")
    func queries() async throws {
        for words in [["info"], ["list"], ["verify"], ["get", "http://a/b"]] {
            let result = try await eidetic(["cache"] + words + ["--cache-dir", "none/cache"])
            #expect(result.status == .exited(words[0] == "get" ? 1 : 0), "\(words): \(result.errorText)")
        }
        #expect(access(directory.path(of: "none"), F_OK) == -1)
    }

    @Test("C08 a cache that cannot be read is an error, not an empty one")
    func unreadableCache() async throws {
        let png = try TestImages.encoded(as: .png)
        #expect(try await eidetic(["cache", "--help"]).status == .exited(0))
        let put = ["cache", "put", "http://a/b", "-", "--cache-dir", "cache"]
        #expect(try await eidetic(put, input: png).status == .exited(0))
        #expect(chmod(directory.path, 0o755) == 0 && chmod(directory.path(of: "cache"), 0o755) == 0)
        // Whoever runs the tests may be allowed to read everything.
        let script = "exec setpriv --reuid 65534 --regid 65534 --clear-groups \"$0\" \"$@\""
        for query in ["info", "list", "verify"] {
            let words = ["-c", script, EideticProgram.path, "cache", query, "--cache-dir", directory.path(of: "cache")]
            let result = try await Subprocess.run("sh", arguments: words)
            if result.errorText.contains("setpriv: ") { try Test.cancel("another user needs privileges") }
            #expect(result.status == .exited(1) && result.errorText.contains("Permission denied"), "\(query)")
        }
    }

    @Test(
        "a directory below which the system denies that it exists is an error",
        arguments: ["load", "convert", "cache"]
    )
    func bottomlessDirectory(command: String) async throws {
        try directory.write(try TestImages.encoded(as: .png), to: "a.png")
        let words =
            switch command {
            case "load": ["load", "--cache-dir", "c", "--out", "/proc/x/y", "\(origin.url)/a.png"]
            case "convert": ["convert", "--out", "/proc/x/y", "a.png"]
            default: ["cache", "clear", "--cache-dir", "/proc/x/y"]
            }
        let result = try await eidetic(words)
        #expect(result.status == .exited(1) && result.errorText.contains("/proc/x"), "\(result.errorText)")
    }
}
