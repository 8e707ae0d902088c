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
        for name in players {
            try await launch(name, ["--player", sound.player], in: daemon, sound: sound.environment)
        }
        try await launch("liar", ["--audio"], in: daemon, sound: sound.environment)
        await daemon.expectOutput("player ", times: 4)
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
        // The music of one ends, and that of another one is paused for longer than a moment.
        let numbers = daemon.output.split(separator: "\n").filter { $0.hasPrefix("player ") }
            .compactMap { Int32($0.dropFirst(7)) }
        kill(try #require(numbers.first), SIGKILL)
        #expect(await daemon.waitForStatuses { $0.count { $0.state == .suspended } == 2 })
        // Pauses a stream of PulseAudio, and ends a player of PipeWire.
        kill(try #require(numbers.last), SIGUSR1)
        // It continues when the user looks at it, and its word counts again until the next stay.
        try await daemon.resume("liar")
        await sound.finish()
        // Without a server the word of the others holds.
        for name in ["two", "three"] {
            let isTold = await daemon.waitForStatuses { _ in
                (try? daemon.lines(.explain(identifier: name)))?.contains { $0.contains("audio: cooperative") } == true
                    || (try? daemon.status(of: name)?.state) == .suspended
            }
            #expect(isTold)
        }
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
            let text = [UInt8(ascii: "t")] + [UInt8](repeating: 97, count: SoundReader.textLimit + difference) + [0]
            reader = SoundReader(text[...])
            #expect(((try? reader.next()) != nil) == (difference <= 0))
            let length = UInt32(SoundMessage.lengthLimit + difference)
            let head = (0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * $0)) } + [255, 255, 255, 255]
            let bytes = head + [UInt8](repeating: 0, count: 12)
            #expect(((try? SoundMessage.bodyLength(in: bytes[...])) != nil) == (difference <= 0))
            let property: [UInt8] = Array("ta\0L".utf8) + [0, 0, 0, 1] + Array("x".utf8) + [0, 0, 0, 1, 98]
            let list = Array(repeating: property, count: SoundReader.propertyLimit + difference).flatMap(\.self)
            reader = SoundReader((Array("P".utf8) + list + Array("N".utf8))[...])
            #expect(((try? reader.next()) != nil) == (difference <= 0))
        }
    }
}
