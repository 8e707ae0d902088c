import EideticCodecs
import EideticCore
import EideticTestSupport
import Testing

@Suite("eidetic --sandbox", .timeLimit(.minutes(2)))
struct SandboxTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory(named: "sandbox") }

    @Test("F07 load --sandbox states its restrictions first, and loads with no other program than eidetic")
    func load() async throws {
        let path = try directory.write(try TestImages.encoded(as: .jpeg), to: "image.jpg")
        let cache = directory.path(of: "cache")
        let words = ["load", "--sandbox", "--cache-dir", cache, "file://\(path)"]
        let result = try await Subprocess.run(EideticProgram.path, arguments: words + ["--json"])
        #expect(result.status == .exited(0), "\(result.errorText)")
        let lines = result.outputText.split(separator: "\n")
        #expect(lines.first?.hasPrefix(#"{"sandbox":{"restrictions":["seccomp""#) == true, "\(result.outputText)")
        #expect(lines.contains { $0.contains(#""width":64"#) })
        let text = try await Subprocess.run(EideticProgram.path, arguments: words + ["--explain"])
        #expect(text.outputText.contains("in the sandbox"), "\(text.outputText)")
    }

    @Test("F07 load decodes images of servers in the sandbox, and with --no-sandbox in its own process")
    func defaults() async throws {
        let png = try TestImages.encoded(as: .png), server = try ScriptedOrigin { _ in [.response(body: png)] }
        for (words, note) in [([], "in the sandbox"), (["--no-sandbox"], nil)] as [([String], String?)] {
            let cache = directory.path(of: "cache\(words.count)")
            let arguments = ["load", "--explain", "--cache-dir", cache] + words + [server.url + "/a.png"]
            let result = try await Subprocess.run(EideticProgram.path, arguments: arguments)
            #expect(result.status == .exited(0), "\(result.errorText)")
            let text = result.outputText
            #expect(text.contains(note ?? "png 64") && text.contains("sandbox") == (note != nil), "\(text)")
        }
    }

    @Test("F07 convert --sandbox writes the same file, and inspect --sandbox prints the same lines")
    func convertAndInspect() async throws {
        let path = try directory.write(try TestImages.encoded(as: .png), to: "image.png")
        let (plain, sandboxed) = (directory.path(of: "a.png"), directory.path(of: "b.png"))
        for words in [[path, plain], ["--sandbox", path, sandboxed]] {
            let arguments = ["convert", "--size", "32x32"] + words
            let result = try await Subprocess.run(EideticProgram.path, arguments: arguments)
            #expect(result.status == .exited(0), "\(result.errorText)")
        }
        let files = FileSystem()
        #expect(try files.contents(of: plain) == files.contents(of: sandboxed))
        let inspections = [
            try await EideticProgram.run("inspect", "--json", "--hash", path),
            try await EideticProgram.run("inspect", "--json", "--hash", "--sandbox", path),
        ]
        #expect(inspections[0].outputText == inspections[1].outputText && !inspections[0].outputText.isEmpty)
    }

    @Test(
        "F07 inspect and convert read SVG in the sandbox, and with --no-sandbox in their own process",
        .enabled(if: ImageDecoder.supportedFormats.contains(.svg), "this build has no SVG")
    )
    func vectors() async throws {
        let svg = "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='7'/>"
        let path = try directory.write(Array(svg.utf8), to: "image.svg"), output = directory.path(of: "a.png")
        for words in [[], ["--no-sandbox"]] as [[String]] {
            // Without room for another process, the sandbox is missing.
            let limited = { (arguments: [String]) in
                let line = (["ulimit -f 64; exec", EideticProgram.path] + arguments).joined(separator: " ")
                return try await Subprocess.run("/bin/sh", arguments: ["-c", line])
            }
            for arguments in [["inspect", path], ["convert", "--overwrite", path, output]] {
                let free = try await Subprocess.run(EideticProgram.path, arguments: arguments + words)
                #expect(free.status == .exited(0), "\(free.errorText)")
                let result = try await limited(arguments + words)
                #expect(result.status == .exited(words.isEmpty ? 1 : 0), "\(result.errorText)")
                #expect(result.errorText.contains("sandbox") == words.isEmpty, "\(result.errorText)")
            }
        }
    }

    @Test("F07 a file that is no image has the same error in the sandbox")
    func errors() async throws {
        let path = try directory.write(Array("<html>".utf8), to: "image.png")
        let result = try await EideticProgram.run("inspect", "--sandbox", path)
        #expect(result.status == .exited(1) && result.errorText.contains("not an image of a known format"))
    }

    @Test("F07 convert --metadata keep and cache put read files in the sandbox, with the same results")
    func metadataAndCache() async throws {
        let path = try directory.write(try TestImages.encoded(as: .jpeg), to: "image.jpg")
        let damaged = try directory.write(Array("<html>".utf8), to: "none.jpg")
        let files = FileSystem()
        var written: [[UInt8]] = []
        for words in [[], ["--sandbox"]] as [[String]] {
            let cache = directory.path(of: "cache\(words.count)"), output = directory.path(of: "\(words.count).png")
            let conversion = ["convert", "--metadata", "keep"] + words + [path, output]
            #expect(try await Subprocess.run(EideticProgram.path, arguments: conversion).status == .exited(0))
            written.append(try files.contents(of: output))
            let put = ["cache", "put", "--cache-dir", cache] + words
            let url = "https://a.example/a.jpg"
            #expect(try await Subprocess.run(EideticProgram.path, arguments: put + [url, path]).status == .exited(0))
            let refused = try await Subprocess.run(EideticProgram.path, arguments: put + [url, damaged])
            #expect(refused.status == .exited(1) && refused.errorText.contains("not an image of a known format"))
        }
        #expect(written[0] == written[1])
    }
}
