import EideticCodecs
import EideticCore
import EideticTestSupport
import Testing

@Suite("eidetic load", .needsNginx, .timeLimit(.minutes(2)))
struct LoadTests: LoadingTests {
    let fixture: LoadFixture

    init() async throws { fixture = try await LoadFixture() }

    @Test("L09 images come from the network first, then from disk, and repeated in one run from memory")
    func sources() async throws {
        let jpeg = try TestImages.encoded(as: .jpeg)
        let urls = [
            try server.addFile(jpeg, at: "a.jpg"), try server.addFile(try TestImages.encoded(as: .png), at: "b.png"),
        ]
        let first = try await load(["--json"] + urls + [urls[0]])
        #expect(first.status == .exited(0))
        let lines = try first.lines(LoadLine.self).sorted { ($0.url, $0.source) > ($1.url, $1.source) }
        #expect(lines.map(\.url) == [urls[1], urls[0], urls[0]])
        #expect(lines.map(\.source) == ["network", "network", "memory"])
        #expect(lines.map(\.format) == ["png", "jpeg", "jpeg"])
        #expect(lines.allSatisfy { $0.width == 64 && $0.height == 48 && $0.error == nil })
        #expect(lines[1].bytes == jpeg.count)
        let second = try await load(["--json"] + urls)
        #expect(second.status == .exited(0))
        #expect(try second.lines(LoadLine.self).map(\.source) == ["disk", "disk"])
        #expect(try await server.requests().count == 2)
    }

    @Test(
        "C03 L26 without options images are stored below XDG_CACHE_HOME, HOME or /var/tmp, and found by the next start",
        arguments: ["XDG_CACHE_HOME", "HOME", nil]
    )
    func defaultDirectories(variable: String?) async throws {
        let name = "\(UInt64.random(in: 0 ... .max)).png"
        let url = try server.addFile(try TestImages.encoded(as: .png), at: name)
        var environment: [String: String?] = ["XDG_CACHE_HOME": nil, "HOME": nil]
        if let variable { environment[variable] = directory.path }
        for source in ["network", "disk"] {
            let result = try await Subprocess.run(
                EideticProgram.path,
                arguments: ["load", url],
                environment: environment
            )
            #expect(result.status == .exited(0), "\(result.errorText)")
            #expect(result.outputText.contains(source))
        }
        #expect(try await server.requests().count == 1)
        let removal = try await Subprocess.run(
            EideticProgram.path,
            arguments: ["cache", "remove", url],
            environment: environment
        )
        #expect(removal.status == .exited(0))
        guard let variable else { return }
        let path = directory.path + (variable == "HOME" ? "/.cache" : "") + "/eidetic/default/CACHEDIR.TAG"
        #expect((try? FileSystem().status(of: path)) != nil)
    }

    @Test("every member is present, in its order")
    func shape() async throws {
        let result = try await load(["--json", "\(server.url)/none.jpg"])
        let members = [
            "url", "source", "format", "width", "height", "bytes", "partial", "ms", "error", "code", "status", "file",
        ]
        #expect(result.outputText.matches(of: /"([a-z]+)":/).map { String($0.1) } == members)
    }

    @Test("URLs are read from the command line, from lists and from standard input")
    func lists() async throws {
        let urls = try (0..<4).map { try server.addFile(try TestImages.encoded(as: .png), at: "\($0).png") }
        try directory.write(Array("# a list\n\n  \(urls[1])  \n\(urls[2])\r\n".utf8), to: "list")
        let result = try await load(["--json", urls[0], "@list", "-"], input: Array(urls[3].utf8))
        #expect(result.status == .exited(0))
        #expect(try result.lines(LoadLine.self).map(\.url).sorted() == urls)
    }

    @Test("a list that cannot be read does not stop the others")
    func missingList() async throws {
        let url = try server.addFile(try TestImages.encoded(as: .png), at: "a.png")
        let result = try await load(["@none", url])
        #expect(result.status == .exited(1))
        #expect(result.errorText == "eidetic: cannot read the list none: No such file or directory\n")
        #expect(result.outputText.contains("1 of 1 images loaded: 1 from network"))
    }

    @Test("F04 --size fits images, and their new size is reported")
    func size() async throws {
        let url = try server.addFile(try TestImages.encoded(as: .jpeg, width: 400, height: 200), at: "a.jpg")
        let line = try #require(try await load(["--json", "--size", "100x100", url]).lines(LoadLine.self).first)
        #expect(line.width == 100 && line.height == 50)
    }

    @Test("--out writes the received bytes to files with safe and distinct names")
    func writesOriginals() async throws {
        let jpeg = try TestImages.encoded(as: .jpeg)
        let png = try TestImages.encoded(as: .png)
        try server.addFile(jpeg, at: "x/photo.jpg")
        try server.addFile(png, at: "y/photo.php")
        try server.addFile(png, at: "..%2f..%2fevil .png")
        let urls = ["x/photo.jpg?v=1", "y/photo.php", "..%252f..%252fevil%20.png"].map { "\(server.url)/\($0)" }
        let result = try await load(["--out", "images/new"] + urls)
        #expect(result.status == .exited(0), "\(result.errorText)")
        let names = try FileSystem().entryNames(in: directory.path(of: "images/new")).sorted()
        #expect(names == ["%2f..%2fevil .png", ".eidetic-load", "photo-2.png", "photo.jpg"])
        #expect(try directory.contents(of: "images/new/photo.jpg") == jpeg)
        #expect(try directory.contents(of: "images/new/photo-2.png") == png)
    }

    @Test("--out with --size writes images of that size, also from the cache")
    func writesResized() async throws {
        let url = try server.addFile(try TestImages.encoded(as: .jpeg, width: 400, height: 200), at: "a.jpg")
        for name in ["first", "second"] {
            #expect(try await load(["--out", name, "--size=100x100", url]).status == .exited(0))
            let image = try ImageDecoder.decode(try directory.contents(of: "\(name)/a.jpg"))
            #expect(image.size == PixelSize(width: 100, height: 50))
            #expect(image.format == .jpeg)
        }
        #expect(try await server.requests().count == 1)
    }

    @Test("--contact-sheet draws every image in its cell")
    func contactSheet() async throws {
        let colors: [SIMD4<UInt8>] = [[200, 30, 30, 255], [30, 180, 30, 255], [30, 30, 220, 255]]
        let urls = try colors.enumerated().map { index, color in
            let image = try TestImages.plain(color, width: 400, height: 300)
            return try server.addFile(try ImageEncoder.encode(image, as: .png), at: "\(index).png")
        }
        let result = try await load(["--contact-sheet", "sheet.png"] + urls)
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(result.outputText.hasSuffix("contact sheet: sheet.png\n"))
        let sheet = try ImageDecoder.decode(try directory.contents(of: "sheet.png")).pixels
        for (index, color) in colors.enumerated() {
            #expect(sheet[sheet.size.width * (2 * index + 1) / 6, sheet.size.height / 2] == color)
        }
    }

    @Test("L02 one run loads hundreds of URLs, each once")
    func many() async throws {
        try server.addFile(try TestImages.encoded(as: .jpeg, width: 16, height: 16), at: "a.jpg")
        let count = Torture.repetitions(500, full: 5_000)
        let list = (0..<count).map { "\(server.url)/a.jpg?\($0)\n" }.joined()
        let result = try await load(["--json", "--concurrency", "32", "-"], input: Array(list.utf8))
        #expect(result.status == .exited(0))
        #expect(Set(try result.lines(LoadLine.self).map(\.url)).count == count)
    }
}
