import EideticCore
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import Glibc
import EideticLifecycle
import Testing

/// Players at a real PulseAudio server, and at a real PipeWire.
@Suite("Applications that play sound", .serialized, .timeLimit(.minutes(10)))
struct SoundTests {
    private static let options = ["--limit", "idle=5", "--limit", "silence=500"]

    private func launch(
        _ identifier: String,
        _ arguments: [String],
        in daemon: Daemon,
        sound: [String: String]
    ) async throws {
        var program = ProgramDescription(executable: Daemon.probe)
        program.arguments = ["background"] + arguments
        program.environment = ["PATH=/usr/bin:/bin", "HOME=\(daemon.directory.path)"] + sound.map { "\($0)=\($1)" }
        try daemon.perform(.install(identifier: identifier, program: program))
        try daemon.perform(.launch(identifier: identifier, url: nil, inBackground: false))
        await daemon.expectState(.active, of: identifier)
    }

    @Test(
        "B10 of five players four run while they play, and one that plays nothing is suspended",
        arguments: SoundDaemon.Kind.allCases
    )
    func players(kind: SoundDaemon.Kind) async throws {
        let sound = try await SoundDaemon(kind)
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.options, environment: sound.environment)
        let players = ["one", "two", "three", "four"]
        for (index, name) in players.enumerated() {
            try await launch(name, ["--player", sound.player], in: daemon, sound: sound.environment)
            await daemon.expectOutput("player ", times: index + 1)
        }
        try await launch("liar", ["--audio"], in: daemon, sound: sound.environment)
        try await eventually("number of streams", is: 4) { try await sound.streamCount() }
        for name in players + ["liar"] { try daemon.perform(.background(identifier: name)) }
        await daemon.expectState(.suspended, of: "liar")
        let liar = try daemon.lines(.log(identifier: "liar", count: 50))
        #expect(liar.contains { $0.contains("no stream of it plays") })
        #expect(try daemon.lines(.explain(identifier: "liar")).contains { $0.contains("no stream of it plays") })
        for name in players {
            await daemon.expectState(.background, of: name)
            await daemon.expectLine(.explain(identifier: name)) {
                $0.contains("checked at the sound server") && $0.hasSuffix("a stream of it plays")
            }
            #expect(try daemon.status(of: name)?.backgroundTimeRemaining == nil)
        }
        // The music of one ends.
        let numbers = daemon.output.split(separator: "\n").filter { $0.hasPrefix("player ") }
            .compactMap { Int32($0.dropFirst(7)) }
        kill(try #require(numbers.first), SIGKILL)
        await daemon.expectState(.suspended, of: "one")
        // It continues when the user looks at it, and its word counts again until the next stay.
        try await daemon.resume("liar")
        await sound.finish()
        // The others end their music with the server; without one, a word alone holds.
        for name in players.dropFirst() { await daemon.expectState(.suspended, of: name) }
        try daemon.perform(.background(identifier: "liar"))
        await daemon.expectLine(.explain(identifier: "liar")) { $0.contains("audio: cooperative") }
        await daemon.expectState(.background, of: "liar")
        await daemon.finish()
    }

    @Test("B10 where no sound server answers, the assertion is cooperative, and why tells")
    func cooperative() async throws {
        let daemon = try await Daemon(
            ControlGroups.kinds[0],
            Self.options,
            environment: ["PULSE_SERVER": "unix:/nonexistent/native"]
        )
        try await launch("app", ["--audio"], in: daemon, sound: [:])
        try daemon.perform(.background(identifier: "app"))
        await daemon.expectState(.background, of: "app")
        let line = "audio: cooperative, as no sound server answers (/nonexistent/native)"
        #expect(try daemon.lines(.explain(identifier: "app")).contains(line))
        await daemon.finish()
    }
}

@Suite("Messages of the sound server")
struct SoundMessageTests {
    @Test("a message is refused that is cut off, has an unknown tag, or is too long")
    func damaged() throws {
        var reader = SoundReader([UInt8(ascii: "L"), 0, 0, 0])
        #expect(throws: SoundError.truncated) { _ = try reader.next() }
        reader = SoundReader([UInt8(ascii: "q")])
        #expect(throws: SoundError.unknownTag(UInt8(ascii: "q"))) { _ = try reader.next() }
        for difference in [-1, 0, 1] {
            let length = UInt32(SoundMessage.lengthLimit + difference)
            let head = (0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * $0)) } + [255, 255, 255, 255]
            let bytes = head + [UInt8](repeating: 0, count: 12)
            #expect(((try? SoundMessage.bodyLength(in: bytes[...])) != nil) == (difference <= 0))
        }
    }

    @Test(
        "a request is read with its number",
        arguments: [SoundMessage.Command.authenticate, .setName, .subscribe, .listClients]
    )
    func requests(_ command: SoundMessage.Command) throws {
        let message = SoundMessage.request(command, number: 7)
        let head = message.prefix(SoundMessage.headLength)
        #expect(try SoundMessage.bodyLength(in: head) == message.count - head.count)
        var reader = SoundReader(message[head.count...])
        #expect(try reader.next(2) == [.number(UInt64(command.rawValue)), .number(7)])
        while !reader.isAtEnd { _ = try reader.next() }
    }

    @Test("a message of a million tags, each of a value within the one before, is refused", arguments: ["P", "f"])
    func nested(_ tag: String) throws {
        var reader = SoundReader(Array(String(repeating: tag, count: SoundMessage.lengthLimit).utf8)[...])
        #expect(throws: SoundError.unexpected) { _ = try reader.next() }
    }

    @Test("the process of a client is the kernel's word, unless PipeWire's server for others forwards it")
    func processes() throws {
        func value(_ number: Int) -> [UInt8] { [UInt8(ascii: "L"), 0, 0, UInt8(number >> 8), UInt8(number & 255)] }
        func client(_ number: Int, _ properties: [[UInt8]: String]) -> [UInt8] {
            let list = properties.flatMap { name, text in
                let length = value(text.utf8.count)
                return Array("t".utf8) + name + [0] + length + Array("x".utf8) + length.dropFirst() + Array(text.utf8)
            }
            return value(number) + Array("N".utf8) + value(1) + Array("NP".utf8) + list + Array("N".utf8)
        }
        let (kernel, own) = (Array("pipewire.sec.pid".utf8), Array("application.process.id".utf8))
        // More and longer than anybody needs, and not UTF-8.
        let many = (0..<999).map { (Array("a\($0)".utf8), "") } + [([UInt8](repeating: 200, count: 9_999), "")]
        let list =
            client(1, [kernel: "100", own: "10"]) + client(2, [kernel: "100", own: "20"])
            + client(3, [kernel: "300", own: "20", Array("client.api".utf8): "pipewire-pulse"])
            + client(4, Dictionary(many) { $1 }.merging([kernel: "400"]) { $1 })
        var reader = SoundReader(list[...])
        #expect(try SoundMessage.processes(in: &reader, own: 1) == [1: 10, 2: 20, 3: 300, 4: 400])
        // PulseAudio has no word of the kernel.
        let plain = client(1, [own: "10"]) + client(2, [kernel: "100", own: "20"])
        reader = SoundReader(plain[...])
        #expect(try SoundMessage.processes(in: &reader, own: 1) == [1: 10, 2: 20])
    }
}
