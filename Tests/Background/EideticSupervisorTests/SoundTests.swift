import EideticCore
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import Glibc
import EideticLifecycle
import Testing

/// Players at a real PulseAudio server with a null sink.
@Suite("Applications that play sound", .serialized, .timeLimit(.minutes(10)))
struct SoundTests {
    private static let options = ["--limit", "idle=5", "--limit", "silence=500"]
    private static let playing = "pacat --raw /dev/zero"

    /// A sound server whose only sink is none.
    private struct SoundDaemon {
        let directory: TemporaryDirectory
        let process: Subprocess
        var address: String { "unix:\(directory.path(of: "native"))" }

        init() async throws {
            directory = try TemporaryDirectory(named: "sound")
            let socket = "module-native-protocol-unix socket=\(directory.path(of: "native"))"
            process = try Subprocess(
                "/usr/bin/pulseaudio",
                arguments: [
                    "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no", "--log-target=stderr",
                    "--log-level=info", "-L", "module-null-sink sink_name=none", "-L", socket,
                ],
                environment: [
                    "HOME": directory.path, "XDG_RUNTIME_DIR": directory.path, "PULSE_RUNTIME_PATH": directory.path,
                    "PULSE_STATE_PATH": directory.path, "PULSE_COOKIE": directory.path(of: "cookie"),
                ]
            )
            guard await process.waitForOutput("Daemon startup complete") else {
                throw SystemError(.open, errorNumber: ENOENT, path: "pulseaudio: \(process.errorsSoFar)")
            }
        }

        func finish() async {
            process.kill(SIGTERM)
            _ = await process.waitUntilExit()
        }
    }

    private func launch(_ identifier: String, _ arguments: [String], in daemon: Daemon, sound: String) async throws {
        var program = ProgramDescription(executable: Daemon.probe)
        program.arguments = ["background"] + arguments
        program.environment = ["PATH=/usr/bin:/bin", "PULSE_SERVER=\(sound)", "HOME=\(daemon.directory.path)"]
        try daemon.perform(.install(identifier: identifier, program: program))
        try daemon.perform(.launch(identifier: identifier, url: nil, inBackground: false))
        await daemon.expectState(.active, of: identifier)
    }

    @Test("B10 of five players four run while they play, and one that plays nothing is suspended")
    func players() async throws {
        let sound = try await SoundDaemon()
        let daemon = try await Daemon(
            ControlGroups.kinds[0],
            Self.options,
            environment: ["PULSE_SERVER": sound.address]
        )
        let players = ["one", "two", "three", "four"]
        for name in players { try await launch(name, ["--player", Self.playing], in: daemon, sound: sound.address) }
        try await launch("liar", ["--audio"], in: daemon, sound: sound.address)
        await daemon.expectOutput("player ", times: 4)
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
        try await launch("app", ["--audio"], in: daemon, sound: "unix:/nonexistent/native")
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
