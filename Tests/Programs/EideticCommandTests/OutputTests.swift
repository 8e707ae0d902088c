import EideticCodecs
import EideticCore
import EideticTestSupport
import Glibc
import Testing

@Suite("eidetic load and convert, places and names", .timeLimit(.minutes(2)))
struct OutputTests {
    private let directory: TemporaryDirectory
    private let origin: ScriptedOrigin

    init() throws {
        directory = try TemporaryDirectory(named: "output")
        let png = try TestImages.encoded(as: .png)
        origin = try ScriptedOrigin { request in
            let date = "Wed, 01 Jan 2020 03:04:05 GMT"
            switch request.path {
            case "/get?id=7":
                let name = "attachment; filename=\"plain.exe\"; filename*=UTF-8''..%2f%e2%82%ac%20rates.jpg"
                let fields: KeyValuePairs = ["Content-Disposition": name, "Last-Modified": date]
                return [.response(200, headers: fields, body: png)]
            case "/get?id=8", "/get?id=9":
                return [
                    .response(
                        200,
                        headers: ["Content-Disposition": "inline; filename=\"C:\\\\x\\\\same.gif\""],
                        body: png
                    )
                ]
            case "/get?id=10":
                let head =
                    "HTTP/1.1 200 OK\r\nContent-Length: \(png.count)\r\nContent-Disposition: inline; filename=caf"
                return [.send(Array(head.utf8) + [0xe9] + Array(".png\r\n\r\n".utf8) + png)]
            case "/get?id=11", "/get?id=12":
                // As in browsers, the type may be missing, and a quote.
                let name = request.path.hasSuffix("11") ? "filename=bare.jpg" : "inline; filename=\"open.jpg"
                return [.response(200, headers: ["Content-Disposition": name], body: png)]
            case "/get?id=13":
                // A combining mark is one character with the quote before it.
                let name = "inline; filename=\"\u{301}a; b.png\""
                return [.response(200, headers: ["Content-Disposition": name], body: png)]
            case "/none": return [.response(404)]
            default: return [.response(200, headers: ["Last-Modified": date, "ETag": "\"1\""], body: png)]
            }
        }
    }

    private func eidetic(_ words: [String], input: [UInt8] = []) async throws -> Subprocess.Result {
        try await Subprocess.run(EideticProgram.path, arguments: words, directory: directory.path, input: input)
    }

    private func load(_ words: String..., input: [UInt8] = []) async throws -> Subprocess.Result {
        try await eidetic(["load", "--cache-dir", directory.path(of: "cache")] + words, input: input)
    }

    private func names(in folder: String) throws -> [String] {
        try FileSystem().entryNames(in: directory.path(of: folder)).filter { $0 != ".eidetic-load" }.sorted()
    }

    private func modificationTime(of name: String) throws -> Int64 {
        try FileSystem().status(of: directory.path(of: name)).modificationTime.seconds
    }

    @Test("L26 --out names a file for one URL and a name with an extension, which decides the format")
    func file() async throws {
        let url = "\(origin.url)/a.png"
        #expect(try await load("--out", "x.png", url).status == .exited(0))
        #expect(try directory.contents(of: "x.png") == TestImages.encoded(as: .png))
        #expect(try await load("--out", "x.jpg", url).status == .exited(0))
        #expect(try ImageDecoder.header(of: directory.contents(of: "x.jpg"))?.format == .jpeg)
        // The same bytes are no loss, other ones are.
        #expect(try await load("--out", "x.png", url).status == .exited(0))
        let refused = try await load("--out", "x.png", "--size", "9x9", url)
        #expect(
            refused.status == .exited(1)
                && refused.errorText.contains("x.png: the file exists; --overwrite replaces it")
        )
        #expect(try await load("--out", "x.png", "--size", "9x9", "--overwrite", url).status == .exited(0))
        #expect(try await load("--out", "dir", url).status == .exited(0))
        #expect(try await load("--out", "x.d/", url).status == .exited(0))
        #expect(try await load("--out", "y.png", url, "\(origin.url)/b.png").status == .exited(0))
        #expect(
            try names(in: "dir") == ["a.png"] && names(in: "x.d") == ["a.png"]
                && names(in: "y.png") == ["a.png", "b.png"]
        )
    }

    @Test("L26 --out - writes one image to standard output, and nothing else")
    func standardOutput() async throws {
        let result = try await load("--out", "-", "\(origin.url)/a.png")
        #expect(result.output == (try TestImages.encoded(as: .png)) && result.errorText == "")
        let small = try await load("--out", "-", "--size", "9x9", "--format", "jpeg", "\(origin.url)/a.png")
        #expect(try ImageDecoder.header(of: small.output)?.format == .jpeg)
        #expect(access(directory.path(of: "-"), F_OK) == -1)
        #expect(try await load("--out", "-", "\(origin.url)/a", "\(origin.url)/b").status == .exited(2))
        #expect(try await load("--out", "-", "--json", "\(origin.url)/a").status == .exited(2))
        let failed = try await load("--out", "-", "\(origin.url)/none")
        #expect(failed.status == .exited(1) && failed.output.isEmpty && failed.errorText.contains("404"))
    }

    @Test("L26 an image that cannot be encoded as the file's name says is an error that names its URL")
    func unencodable() async throws {
        let result = try await load("--out", directory.path(of: "a.tiff"), "\(origin.url)/a.png")
        #expect(result.status == .exited(1))
        #expect(result.errorText.contains("\(origin.url)/a.png: tiff cannot be encoded"))
    }

    @Test(
        "L26 options of files need --out",
        arguments: [
            ["--format", "webp"], ["--quality", "80"], ["--remote-names"], ["--no-remote-time"], ["--continue"],
        ]
    )
    func withoutOut(options: [String]) async throws {
        let result = try await eidetic(["load"] + options + [origin.url])
        #expect(result.status == .exited(2) && result.errorText.contains("\(options[0]) requires --out"))
    }

    @Test("L26 a file has the time of Last-Modified, also from the cache, and with --no-remote-time its own")
    func times() async throws {
        let url = "\(origin.url)/a.png", remote: Int64 = 1_577_847_845
        for name in ["network", "disk"] { _ = try await load("--out", name, url) }
        #expect(try modificationTime(of: "network/a.png") == remote && modificationTime(of: "disk/a.png") == remote)
        _ = try await load("--out", "single.png", url)
        #expect(try modificationTime(of: "single.png") == remote)
        _ = try await load("--out", "now", "--no-remote-time", url)
        #expect(try modificationTime(of: "now/a.png") > remote)
    }

    @Test(
        "L26 --remote-names takes the names of Content-Disposition: cleaned, distinct, with the extension of the format"
    )
    func remoteNames() async throws {
        let urls = (7...13).map { "\(origin.url)/get?id=\($0)" } + ["\(origin.url)/plain.jpg"]
        let words = ["load", "--cache-dir", "cache", "--out", "out", "--remote-names"] + urls
        #expect(try await eidetic(words).status == .exited(0))
        let expected = [
            "bare.png", "café.png", "open.png", "plain.png", "same-2.png", "same.png", "\u{301}a; b.png", "€ rates.png",
        ]
        #expect(try names(in: "out") == expected)
        // Another run gives each URL its own file again.
        #expect(try await eidetic(words).status == .exited(0))
        #expect(try names(in: "out") == expected)
    }

    @Test("L16 --http uses an image as long as its server says, --max-age asks for older ones")
    func freshness() async throws {
        let url = "\(origin.url)/a.png"
        for _ in 0..<2 { #expect(try await load("--http", url).status == .exited(0)) }
        #expect(origin.requests.count == 1)
        #expect(try await load("--max-age", "0", url).status == .exited(0))
        #expect(origin.requests.last?.headers["if-none-match"] == "\"1\"" && origin.requests.count == 2)
        #expect(try await load("--max-age", "3600", url).status == .exited(0))
        #expect(origin.requests.count == 2)
    }

    @Test("L05 a URL without its scheme is one of http, as with curl, also in lists and for the cache")
    func withoutScheme() async throws {
        let short = String(origin.url.dropFirst("http://".count))
        let result = try await load("--json", "\(short)/a.png")
        #expect(try result.lines(LoadLine.self).map(\.url) == ["\(origin.url)/a.png"], "\(result.errorText)")
        #expect(try await load("-", input: Array("\(short)/b.png\n".utf8)).status == .exited(0))
        let cached = try await eidetic(["cache", "get", "--cache-dir", "cache", "\(short)/b.png"])
        #expect(cached.output == (try TestImages.encoded(as: .png)))
        try directory.write([1], to: "a.png")
        for text in ["a.png", "./a.png", "/a.png", "mailto:a", "ftp://a/b", "data:,a@b.c"] {
            #expect(try await load(text).status == .exited(1))
        }
        let schemes = try await load("ftp://a/b").errorText
        #expect(schemes.contains("the scheme \"ftp\" is not supported, only http, https, file and data"))
    }

    @Test("--quiet writes errors only")
    func quiet() async throws {
        let result = try await load("--quiet", "\(origin.url)/a.png", "\(origin.url)/none")
        #expect(result.status == .exited(1) && result.output.isEmpty && result.errorText.contains("404"))
        let prefetch = try await eidetic(["prefetch", "-q", "--cache-dir", "cache", "\(origin.url)/a.png"])
        #expect(prefetch.status == .exited(0) && prefetch.output.isEmpty && prefetch.errorText == "")
        try directory.write(try TestImages.encoded(as: .png), to: "a.png")
        let convert = try await eidetic(["convert", "-q", "--out", "out", "a.png", "b.png"])
        #expect(convert.status == .exited(1) && convert.output.isEmpty)
        #expect(convert.errorText == "eidetic: b.png: No such file or directory\n")
    }

    @Test("C08 what cache list shows is given back by cache get and removed by cache remove")
    func listedKeys() async throws {
        let url = "\(origin.url)/a.png"
        _ = try await load("--size", "20x20", url)
        _ = try await load("--header", "X-Key: a", url)
        let list = try await eidetic(["cache", "list", "--cache-dir", "cache"]).outputText.split(separator: "\n")
        #expect(list.count == 3)
        for line in list {
            let key = try #require(line.firstRange(of: "http")).lowerBound
            let get = try await eidetic(["cache", "get", "--cache-dir", "cache", String(line[key...])])
            #expect(get.status == .exited(0) && !get.output.isEmpty, "\(line)")
            #expect(
                try await eidetic(["cache", "remove", "--cache-dir", "cache", String(line[key...])]).status
                    == .exited(0)
            )
        }
        #expect(try await eidetic(["cache", "list", "--cache-dir", "cache"]).output.isEmpty)
    }

    // MARK: convert

    private struct Conversion: Decodable {
        let input: String
        let output: String?
        let format: String?
        let width: Int?
        let code: String?
    }

    @Test("F05 convert -r takes directories, @FILE a list, and each keeps its place below --out")
    func recursive() async throws {
        let png = try TestImages.encoded(as: .png)
        for name in ["photos/a.png", "photos/x/b.png", "photos/x/y/b.png"] { try directory.write(png, to: name) }
        try directory.write(Array("text".utf8), to: "photos/notes.txt")
        #expect(symlink("..", directory.path(of: "photos/x/loop")) == 0)
        let plain = try await eidetic(["convert", "--out", "none", "photos"])
        #expect(plain.status == .exited(1) && plain.errorText.contains("photos: Is a directory; -r takes"))
        let result = try await eidetic(["convert", "--json", "-r", "--out", "out", "--format", "webp", "photos"])
        #expect(result.status == .exited(0), "\(result.errorText)")
        let lines = try result.lines(Conversion.self).sorted { $0.input < $1.input }
        #expect(lines.map(\.input) == ["photos/a.png", "photos/x/b.png", "photos/x/y/b.png"])
        #expect(lines.map(\.output) == ["out/a.webp", "out/x/b.webp", "out/x/y/b.webp"])
        for line in lines {
            #expect(try ImageDecoder.header(of: directory.contents(of: line.output ?? ""))?.format == .webp)
        }
        try directory.write(Array("# comment\nphotos/a.png\n\nphotos/x/b.png\n".utf8), to: "list")
        let listed = try await eidetic(["convert", "--out", "listed", "@list"])
        #expect(listed.outputText.hasPrefix("2 of 2 images converted; "))
        let inspected = try await eidetic(["inspect", "@list"])
        #expect(inspected.outputText.split(separator: "\n").count == 2)
    }

    @Test("F05 --out-template names the files by their name, size, number and format")
    func templates() async throws {
        for name in ["a", "b"] { try directory.write(try TestImages.encoded(as: .png), to: "\(name).png") }
        let words = ["convert", "--size", "32x32", "--format", "webp", "--out", "out", "--out-template"]
        let result = try await eidetic(words + ["{w}/{n}-{name}_{w}x{h}.{ext}", "a.png", "b.png"])
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(try names(in: "out/32") == ["1-a_32x24.webp", "2-b_32x24.webp"])
        for template in ["{nam}.png", "../{name}", "/tmp/{name}", "{name", "a//b", "../\u{301}{name}", ""] {
            #expect(try await eidetic(words + [template, "a.png"]).status == .exited(2), "\(template)")
        }
        #expect(try await eidetic(["convert", "--out-template", "{name}", "a.png", "c.png"]).status == .exited(2))
    }

    @Test("F05 convert --json tells which file became which, and why one did not")
    func conversionLines() async throws {
        try directory.write(try TestImages.encoded(as: .png), to: "a.png")
        let result = try await eidetic(["convert", "--json", "--out", "out", "a.png", "none.png"])
        #expect(result.status == .exited(1) && result.errorText == "")
        let lines = try result.lines(Conversion.self).sorted { $0.input < $1.input }
        #expect(lines.map(\.output) == ["out/a.png", nil] && lines.map(\.code) == [nil, "notFound"])
        let single = try await eidetic(["convert", "--json", "a.png", "b.jpg"])
        #expect(try single.lines(Conversion.self).map(\.output) == ["b.jpg"])
        #expect(try await eidetic(["convert", "--json", "a.png", "-"]).status == .exited(2))
        let named = try await eidetic(["convert", "a.png", "--out", "c.jpg"])
        #expect(named.status == .exited(0) && named.output.isEmpty)
        #expect(try ImageDecoder.header(of: directory.contents(of: "c.jpg"))?.format == .jpeg)
    }

    @Test("a quality between 0 and 1 is refused, with the scale", arguments: ["0.8", "0.01", "101", "-1"])
    func quality(text: String) async throws {
        for words in [["convert", "a.png", "b.jpg"], ["load", "--out", "out", origin.url]] {
            let result = try await eidetic(words + ["--quality=\(text)"])
            #expect(result.status == .exited(2))
            #expect(result.errorText.contains("for --quality: expected a number from 0 to 100"))
        }
    }
}
