import Eidetic
import EideticCodecs
import EideticCore
import EideticTestSupport
import Glibc
import Testing

@Suite("eidetic load, the output", .needsNginx, .timeLimit(.minutes(2)))
struct LoadOutputTests: LoadingTests {
    let fixture: LoadFixture

    init() async throws { fixture = try await LoadFixture() }

    @Test("L26 --json has the code of an error, the status of its response and the written file as members")
    func members() async throws {
        let url = try server.addFile(try TestImages.encoded(as: .png), at: "a.png")
        let result = try await load(["--json", "--out", "out", url, "\(server.url)/none.png"])
        let lines = try result.lines(LoadLine.self).sorted { $0.url < $1.url }
        #expect(lines.map(\.file) == ["out/a.png", nil])
        #expect(lines.map(\.code) == [nil, "httpStatus"])
        #expect(lines.map(\.status) == [nil, 404])
    }

    @Test(
        "C06 --out without changes writes what arrives, decodes nothing, and stores it unless --no-store is given",
        arguments: [[], ["--no-store"]]
    )
    func receivedBytes(options: [String]) async throws {
        let whole = try TestImages.encoded(as: .png, width: 400, height: 200), damaged = Array(whole.dropLast(200))
        let url = try server.addFile(damaged, at: "a.png")
        let first = try await load(["--json", "--out", "out"] + options + [url])
        #expect(first.status == .exited(0), "\(first.errorText)")
        #expect(try directory.contents(of: "out/a.png") == damaged)
        let line = try #require(try first.lines(LoadLine.self).first)
        #expect(line.width == 400 && line.height == 200 && line.source == "network")
        let second = try await load(["--offline", "--out", "again", url])
        #expect(second.status == .exited(options.isEmpty ? 0 : 1))
        #expect(try await server.requests().count == 1)
        // Where pixels are needed, the damage is found.
        #expect(try await load(["--out", "small", "--size", "32x32", url]).status == .exited(1))
    }

    @Test("L05 a byte order mark at the beginning of a list is no part of its first URL")
    func byteOrderMark() async throws {
        let url = try server.addFile(try TestImages.encoded(as: .png), at: "a.png")
        let result = try await load(["--json", "-"], input: [0xef, 0xbb, 0xbf] + Array("\(url)\n".utf8))
        #expect(try result.lines(LoadLine.self).map(\.url) == [url])
        #expect(result.status == .exited(0))
    }

    @Test("L26 a data URL is abbreviated in lines for people, also in errors, and whole as JSON")
    func dataURLs() async throws {
        let png = try await Subprocess.run("base64", arguments: ["-w0"], input: try TestImages.encoded(as: .png))
        let url = "data:image/png;base64,\(png.outputText)", bad = "\(url)%%"
        let result = try await load([url, bad])
        #expect(result.outputText.contains("data:image/png;base64,… ("))
        #expect(result.errorText.contains("data:image/png;base64,… ("))
        #expect(!(result.outputText + result.errorText).contains(png.outputText.prefix(60)))
        #expect(try await load(["--json", url]).lines(LoadLine.self).map(\.url) == [url])
    }

    @Test("L26 a contact sheet in a format that cannot be written is refused before any request")
    func sheetFormats() async throws {
        let url = try server.addFile(try TestImages.encoded(as: .png), at: "a.png")
        for name in ["sheet.bmp", "sheet.xyz", "./sheet.tiff"] {
            let result = try await load(["--contact-sheet", name, url])
            #expect(result.status == .exited(2))
            #expect(result.errorText.contains("\"\(name)\" has no file extension of a format that can be written"))
        }
        #expect(try await server.requests().isEmpty)
        #expect(try await load(["--contact-sheet", "./sheet", url]).status == .exited(0))
        #expect(try ImageDecoder.header(of: try directory.contents(of: "sheet"))?.format == .png)
    }

    @Test("L26 a contact sheet has a caption below each image, and the reason of a failure")
    func captions() async throws {
        let white = try TestImages.plain([255, 255, 255, 255], width: 400, height: 300)
        let url = try server.addFile(try ImageEncoder.encode(white, as: .png), at: "a.png")
        func inkedPixels(urls: [String]) async throws -> Int {
            _ = try await load(["--contact-sheet", "sheet.png", "--overwrite"] + urls)
            let sheet = try ImageDecoder.decode(try directory.contents(of: "sheet.png")).pixels
            var count = 0
            for y in 0..<sheet.size.height {
                for x in 0..<sheet.size.width where sheet[x, y] == [72, 72, 78, 255] { count += 1 }
            }
            return count
        }
        // An "a" of 12 pixels in a font that is doubled.
        let one = try await inkedPixels(urls: [url])
        #expect(one == 4 * 12)
        let failed = try await inkedPixels(urls: ["\(server.url)/a.jpg"])
        #expect(failed > one, "404: a")
    }

    @Test("L06 help lists the names for --option")
    func help() async throws {
        let text = try await EideticProgram.run("help", "load").outputText
        let missing = ImageOptions.names.map(\.name).filter { !text.contains($0) }
        #expect(missing.isEmpty && ImageOptions.names.count > 8)
    }

    @Test("F03 --size keeps the frames of a GIF, and an animation that cannot be written is a failure")
    func animations() async throws {
        let gif = try server.addFile(try TestImages.animation(frameCount: 3), at: "a.gif")
        #expect(try await load(["--out", "out", "--size", "32x32", gif]).status == .exited(0))
        let header = try #require(try ImageDecoder.header(of: try directory.contents(of: "out/a.gif")))
        #expect(header.frameCount == 3 && header.size == PixelSize(width: 32, height: 24))
    }

    @Test("F03 an animation that cannot be encoded is reported and not written", .needsCorpus)
    func lostFrames() async throws {
        let names = try Corpus.files(withExtensions: ["webp"]).filter { $0.hasSuffix("TestImageAnimated.webp") }
        let url = try server.addFile(try Corpus.bytes(of: try #require(names.first)), at: "a.webp")
        let result = try await load(["--out", "out", "--size", "32x32", "--format", "jpeg", url])
        #expect(result.status == .exited(1))
        #expect(
            result.errorText.contains("frames cannot be encoded as JPEG; --option firstFrameOnly writes the first one")
        )
        #expect((try? directory.contents(of: "out/a.jpg")) == nil)
        let options = ["--option", "firstFrameOnly", "--out", "out", "--size", "32x32"]
        #expect(try await load(options + [url]).status == .exited(0))
        #expect(try ImageDecoder.header(of: try directory.contents(of: "out/a.webp"))?.frameCount == 1)
    }

    @Test("L26 --continue loads what an interrupted run has not written, and asks for nothing else")
    func continues() async throws {
        let gate = Gate(), png = try TestImages.encoded(as: .png)
        let origin = try ScriptedOrigin { request in
            let response: [ScriptedOrigin.Step] = [.response(200, headers: ["Content-Type": "image/png"], body: png)]
            // Whichever of the two is asked for first.
            return ["/2.png", "/3.png"].contains(request.path) ? [.wait(gate)] + response : response
        }
        let list = (0..<4).map { "\(origin.url)/\($0).png" }
        let process = try Subprocess(
            EideticProgram.path,
            arguments: ["load", "--cache-dir", directory.path(of: "cache"), "--concurrency", "1", "--out", "out"]
                + list,
            directory: directory.path
        )
        #expect(await process.waitForOutput("/0.png"))
        #expect(await process.waitForOutput("/1.png"))
        await origin.waitForRequests(count: 3)
        process.kill(SIGKILL)
        #expect(await process.waitUntilExit().status == .signalled(SIGKILL))
        gate.open()
        origin.removeRequests()
        // Another cache, so that no image comes from disk. A line that the kill cut off does not count.
        let written = try directory.contents(of: "out/.eidetic-load")
        try directory.write(written + Array("9.png\t9\t-\t\(list[3])".utf8), to: "out/.eidetic-load")
        let arguments = ["load", "--cache-dir", directory.path(of: "other"), "--out", "out", "--continue"] + list
        let result = try await Subprocess.run(EideticProgram.path, arguments: arguments, directory: directory.path)
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(result.outputText.contains("2 of 4 images loaded: 2 from network; 2 written before"))
        #expect(origin.requests.map(\.path).sorted() == ["/2.png", "/3.png"])
        let names = try FileSystem().entryNames(in: directory.path(of: "out")).sorted()
        #expect(names == [".eidetic-load", "0.png", "1.png", "2.png", "3.png"])
        // After a complete run nothing is asked, unless a file is no longer complete; --check asks.
        origin.removeRequests()
        #expect(
            try await Subprocess.run(EideticProgram.path, arguments: arguments, directory: directory.path).status
                == .exited(0)
        )
        #expect(origin.requests.isEmpty)
        try directory.write(Array(png.prefix(9)), to: "out/1.png")
        #expect(
            try await Subprocess.run(EideticProgram.path, arguments: arguments, directory: directory.path).status
                == .exited(0)
        )
        #expect(try directory.contents(of: "out/1.png") == png)
        origin.removeRequests()
        let check = arguments + ["--check"]
        #expect(
            try await Subprocess.run(EideticProgram.path, arguments: check, directory: directory.path).status
                == .exited(0)
        )
        #expect(origin.requests.count == 4)
    }

    @Test("L26 --continue loads again what was removed, or written in another size, or failed")
    func continuesWithChanges() async throws {
        let png = try TestImages.encoded(as: .png)
        let urls = try (0..<3).map { try server.addFile(png, at: "\($0).png") }
        let missing = "\(server.url)/missing.png"
        #expect(try await load(["--out", "out"] + urls + [missing]).status == .exited(1))
        try FileSystem().unlink(directory.path(of: "out/1.png"))
        let again = try await load(["--json", "--out", "out", "--continue"] + urls + [missing])
        struct Line: Decodable {
            let url: String
            let source: String
        }
        let sources = try again.lines(Line.self).sorted { $0.url < $1.url }.map(\.source)
        #expect(sources == ["kept", "disk", "kept", "error"])
        let resized = try await load(["--out", "out", "--continue", "--size", "32x32"] + urls)
        #expect(resized.outputText.contains("3 of 3 images loaded: 3 from disk"))
    }

    @Test("L26 --continue needs --out, and cannot be combined with images that are shown")
    func continueAlone() async throws {
        #expect(try await load(["--continue", "http://127.0.0.1:1/a"]).errorText.contains("--continue requires --out"))
        let words = ["--continue", "--out", "out", "--contact-sheet", "a.png", "http://127.0.0.1:1/a"]
        let result = try await load(words)
        #expect(result.status == .exited(2))
        #expect(result.errorText.contains("--continue and --contact-sheet cannot be combined"))
    }

    @Test("C04 a cache on a file system that is only read is read, and images are loaded beside it")
    func readOnlyCache() async throws {
        let urls = try ["a", "b"].map { try server.addFile(try TestImages.encoded(as: .png), at: "\($0).png") }
        #expect(try await load([urls[0]]).status == .exited(0))
        let cache = directory.path(of: "cache")
        let mount = "mount --bind \(cache) \(cache) && mount -o remount,bind,ro \(cache)"
        let script = "\(mount) || exit 77; exec \"$0\" load --json --cache-dir \(cache) \"$@\""
        let arguments = ["--mount", "sh", "-c", script, EideticProgram.path] + urls
        let result = try await Subprocess.run("unshare", arguments: arguments)
        guard result.status != .exited(77), result.status != .exited(1) || !result.errorText.contains("unshare") else {
            try Test.cancel("mounts are not allowed here")
        }
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(try result.lines(LoadLine.self).sorted { $0.url < $1.url }.map(\.source) == ["disk", "network"])
    }
}
