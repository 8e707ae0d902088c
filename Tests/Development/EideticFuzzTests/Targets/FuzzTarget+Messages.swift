import EideticCodecs
import EideticCore
import EideticHTTP
import EideticSandbox
import EideticLifecycle
import EideticSupervision
@testable import EideticSupervisor

@testable import EideticTransfer
@testable import EideticTransferEngine

extension FuzzTarget {
    /// The frames that processes send each other, and the records that they keep; the first byte selects the type.
    static let messages = [
        FuzzTarget(name: "transfer-message", seeds: { transferSeeds }) {
            select(
                $0,
                from: [
                    check(TransferCommand.self), check(TransferReply.self), check(TransferEvent.self),
                    check(TransferStatus.self), check(JournalRecord.self),
                ]
            )
        },
        FuzzTarget(name: "supervisor-message", seeds: { supervisorSeeds }) {
            select(
                $0,
                from: [
                    check(ApplicationMessage.self), check(SupervisorMessage.self), check(ControlRequest.self),
                    check(ControlAnswer.self), check(TransferSupervision.self), check(ApplicationRecord.self),
                ]
            )
        },
        FuzzTarget(name: "wake-record", seeds: { wakeSeeds }) {
            select($0, from: [check(WakeRecord.self), check(WakeCommand.self), check(WakeReply.self)])
        },
        FuzzTarget(name: "push-payload", seeds: { pushSeeds }) { bytes in
            guard let payload = try? PushPayload(bytes), payload.bytes.last == UInt8(ascii: "}") else { return }
            require(payload.bytes.count <= PushPayload.lengthLimit, "a message of \(payload.bytes.count) bytes")
            // The beginning of an object is none.
            require(
                (try? PushPayload(Array(payload.bytes.dropLast()))) == nil,
                "\(payload.bytes) is accepted without its end"
            )
        },
        FuzzTarget(name: "sound-message", seeds: { soundSeeds }) { bytes in
            for command in [SoundMessage.Command.listPlayers, .listRecorders] {
                var reader = SoundReader(bytes[...])
                let streams = (try? SoundMessage.streams(in: &reader, of: command)) ?? []
                require(streams.allSatisfy { $0.process ?? 1 > 0 }, "a process without a number")
            }
            var reader = SoundReader(bytes[...])
            let processes = (try? SoundMessage.processes(in: &reader, own: 1)) ?? [:]
            require(processes.values.allSatisfy { $0 > 0 }, "a client without a number")
            let length = try? SoundMessage.bodyLength(in: bytes.prefix(SoundMessage.headLength))
            require(length ?? 0 <= SoundMessage.lengthLimit, "a length of \(length ?? 0)")
        },
        FuzzTarget(name: "sandbox-message", seeds: { sandboxSeeds }) { bytes in
            select(bytes, from: [check(HelperReply.self), check(HelperRequest.self)])
            guard let layout = ResultLayout(size: PixelSize(width: 3, height: 5), frameCount: 7) else { return }
            let record = bytes.withUnsafeBytes { FrameRecord($0, layout: layout) }
            require(record.map { $0.part < 7 && $0.duration >= .zero } ?? true, "a frame outside of its memory")
        },
        FuzzTarget(name: "session-record", seeds: { sessionSeeds }) {
            select(
                $0,
                from: [
                    check(ResumableRequest.self), check(TaskNote.self), check(TransferRequest.self),
                    check(HTTPHeaders.self),
                ]
            )
        },
    ]

    private static func select(_ bytes: [UInt8], from checks: [([UInt8]) -> Void]) {
        guard let first = bytes.first else { return }
        checks[Int(first) % checks.count](Array(bytes.dropFirst()))
    }

    /// Returns a check that what was read can be passed on, and is read as the same bytes.
    private static func check<Value: WireValue>(_ type: Value.Type) -> ([UInt8]) -> Void {
        { bytes in
            guard let value = try? WireReader.decode(type, from: bytes) else { return }
            let written = WireWriter.encode(value)
            guard let again = try? WireReader.decode(type, from: written) else {
                fatalError("\(value) is not read as it was written")
            }
            require(WireWriter.encode(again) == written, "\(value) is written as \(again)")
        }
    }

    private static let transferSeeds: [[UInt8]] =
        [
            TransferCommand.hello(version: 1, application: "org.example.App", secret: [1, 2]),
            .openSession(TransferSessionConfiguration(identifier: "s")),
            .list(session: nil, after: TransferIdentifier(3)),
            .cancel([TransferIdentifier(.max)], keepsResumeData: true), .acknowledge([1, 2]),
        ].map { [0] + WireWriter.encode($0) }

    private static let wakeSeeds: [[UInt8]] = {
        let now = ScheduleTime(steady: 1_700_000_000, local: 1_700_003_600, offset: 3_600)
        var record = WakeRecord(schedule: WakeSchedule(at: now))
        record.schedule.setFetchInterval(.minimum, at: now)
        record.schedule.recordUse(at: now)
        try? record.schedule.submit(TaskRequest(.processing, identifier: "p"), at: now)
        var content = NotificationRequest.Content()
        (content.title, content.sound) = ("title", .named("bell"))
        var request = NotificationRequest(identifier: "n", content: content)
        request.trigger = .daily(second: 60, weekday: 1)
        _ = record.notifications.add(request, at: now)
        let file = WakeCrashes.ProgramFile(inode: 3, modificationTime: 4)
        record.crashes = WakeCrashes(counts: [.fetch: 2, .voip: 5], time: now.steady, program: file)
        let work = ContinuedWorkMessage(identifier: "e", title: "Export", subtitle: "")
        let commands: [WakeCommand] = [
            .beginContinued(work, number: 2), .reportContinued("e", completed: 7, total: 10), .endContinued("e"),
        ]
        return commands.map { [1] + WireWriter.encode($0) } + [
            [2] + WireWriter.encode(WakeReply.stopContinued("e", reason: "r")),
            [0] + WireWriter.encode(record), [1] + WireWriter.encode(WakeCommand.addNotification(request, number: 1)),
            [2] + WireWriter.encode(WakeReply.address("https://example.org", reason: "")),
        ]
    }()

    private static let pushSeeds: [[UInt8]] = [
        #"{"aps":{"content-available":1,"x":[1,-2.5e3,"\u00e9",null,true]},"n":{}}"#, #"{"content-available":1}"#,
    ].map { Array($0.utf8) }

    /// The answer to a list of one player, and a request with its descriptor.
    private static let soundSeeds: [[UInt8]] = {
        let number: [UInt8] = [UInt8(ascii: "L"), 0, 0, 0, 1]
        let time: [UInt8] = [UInt8(ascii: "U"), 0, 0, 0, 0, 0, 0, 0, 0]
        let form: [UInt8] = [UInt8(ascii: "a"), 3, 1, 0, 0, 172, 68, UInt8(ascii: "m"), 1, 0]
        let volume: [UInt8] = [UInt8(ascii: "v"), 1, 0, 1, 0, 0]
        let name: [UInt8] = Array("tmusic\0".utf8), driver: [UInt8] = Array("tnone\0N0".utf8)
        let process: [UInt8] = Array("Ptapplication.process.id\0".utf8)
        let length: [UInt8] = [UInt8(ascii: "L"), 0, 0, 0, 3, UInt8(ascii: "x"), 0, 0, 0, 3]
        let value: [UInt8] = Array("42\0N011".utf8)
        let parts: [[UInt8]] = [
            number, name, number, number, number, form, volume, time, time, driver, process, length, value,
        ]
        let client: [[UInt8]] = [number, name, number, driver.dropLast(2), process, length, Array("42\0N".utf8)]
        return [Array(parts.joined()), Array(client.joined()), SoundMessage.request(.authenticate, number: 1)]
    }()

    private static var sandboxSeeds: [[UInt8]] {
        guard let layout = ResultLayout(size: PixelSize(width: 3, height: 5), frameCount: 7) else { return [] }
        let header = HeaderDescription(ImageHeader(format: .gif, size: layout.size, frameCount: 7, loopCount: nil))
        let animation = AnimationInfo(
            format: .gif,
            size: layout.size,
            sourceSize: layout.size,
            durations: [.milliseconds(40)],
            loopCount: 2,
            isComplete: true
        )
        let replies: [HelperReply] = [
            .ready(HelperDescription(restrictions: .network, formats: ["png"], addressSpace: 9)),
            .failure(.corrupt, message: "reason"), .header(header),
            .opened(header, DecodeMemory(working: 8, kept: 4), layout),
            .frame(nil, DecoderUsage()), .metadata(MetadataLayout(ImageMetadata(exif: [1]))), .header(nil),
            .animation(AnimationDescription(animation), DecoderUsage()),
        ]
        let requests: [HelperRequest] = [
            .open(byteCount: 9, options: DecodeOptions(), limits: DecodeLimits(), immediateMemory: 1),
            .decode(layout, isInWindow: true),
            .release([1, 2]), .frame(3, index: 4, layout, isInWindow: false),
        ]
        return replies.map { [0] + WireWriter.encode($0) } + requests.map { [1] + WireWriter.encode($0) }
    }

    private static let supervisorSeeds: [[UInt8]] =
        [ApplicationMessage.hello(Hello()), .acknowledged(sequence: 9), .taskNames(["a"], request: 3)].map {
            [0] + WireWriter.encode($0)
        } + [
            [1]
                + WireWriter.encode(
                    SupervisorMessage.welcome(Welcome(generation: 2, token: [1], archiveDirectory: "/a"))
                ),
            [4] + WireWriter.encode(TransferSupervision.wake(application: "a", session: "s")),
            [5] + WireWriter.encode(record),
        ]
        + callbacks.map { [1] + WireWriter.encode(SupervisorMessage.lifecycle($0, sequence: 3, deadline: .seconds(1))) }
        + requests.map { [2] + WireWriter.encode($0) }
        + [.lines(["a", "b"]), .refused(.notRunning, message: "m"), .applications([])].map {
            [3] + WireWriter.encode(ControlAnswer($0))
        }

    private static let url = IncomingURL("https://example.org/", id: 1, source: "org.example.Two")

    private static let callbacks: [LifecycleCallback] = [
        .openURL(url), .launch(.wake(.session)), .launchInBackground(.url(url)), .willTerminate,
        .wake(WakeReason(.session, id: 1, session: "s")),
    ]

    private static let requests: [ControlRequest] = [
        .log(identifier: "a", count: 3), .push(identifier: "a", payload: [1]), .openURLByScheme("x:1", token: 2),
        .install(identifier: "a", program: ProgramDescription(executable: "/usr/bin/one")),
        .launch(identifier: "a", url: "x:1", inBackground: true), .quit(identifier: "a", force: true),
        .simulate(identifier: "a", .location(latitude: 1, longitude: 2, accuracy: 3)),
        .wake(identifier: "a", kind: .fetch),
        .simulate(identifier: "a", .task("t")),
    ]

    private static var record: ApplicationRecord {
        var record = ApplicationRecord(), process = ApplicationRecord.ProcessRecord()
        process.identifier = 12
        process.intention.urls = [.init(url)]
        record.program = ProgramDescription(executable: "/usr/bin/one")
        record.wakeCrashCounts = [.fetch: 2]
        record.processNumber = 7
        record.process = process
        record.waitingWakes = [.init(WakeReason(.session, id: 1, session: "s"), allowance: .seconds(1))]
        record.waitingURLs = [.init(url, token: 4)]
        record.waitingLaunch = .background
        return record
    }

    private static let sessionSeeds: [[UInt8]] = [
        [0] + WireWriter.encode(ResumableRequest(request: "https://a.test/b", data: [1, 2])),
        [1] + WireWriter.encode(TaskNote(identifier: 3, text: "t")),
        [2] + WireWriter.encode(TransferRequest(download: "https://a.test/b")),
        [2] + WireWriter.encode(TransferRequest(upload: "/a", to: "https://a.test/b")),
        [3] + WireWriter.encode(["ETag": "\"a\"", "Accept": "*/*"] as HTTPHeaders),
    ]
}
