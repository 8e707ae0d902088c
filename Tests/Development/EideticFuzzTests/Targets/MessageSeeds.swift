import EideticCodecs
import EideticCore
import EideticHTTP
import EideticLifecycle
import EideticSupervision

@testable import EideticSandbox
@testable import EideticSupervisor
@testable import EideticTransfer
@testable import EideticTransferEngine

/// Messages and records of every kind, behind the byte that selects their type.
enum MessageSeeds {
    /// Returns the bytes of values, behind the number of their type in a target.
    private static func seeds(_ type: UInt8, _ values: [some WireValue]) -> [[UInt8]] {
        values.map { [type] + WireWriter.encode($0) }
    }

    private static let address = "https://a.test/b"
}

// MARK: Transfers

extension MessageSeeds {
    static let transfer: [[UInt8]] =
        seeds(0, commands.map { NumberedMessage(number: 1, message: $0) })
        + seeds(1, replies.map { NumberedMessage(number: 1, message: $0) })
        + seeds(2, events) + seeds(3, statuses) + seeds(4, journalRecords) + otherGreetings

    /// The greeting of an application of another version, and one of this version.
    private static let otherGreetings = [3, TransferCommand.version].map { version in
        WireWriter.encode(
            NumberedMessage(number: 1, message: TransferCommand.hello(version: version, application: "a", secret: []))
        )
    }

    private static let first = TransferIdentifier(1), last = TransferIdentifier(.max)

    private static let requests: [TransferRequest] = {
        var download = TransferRequest(download: address)
        download.headers = ["ETag": "\"a\"", "Accept": "*/*"]
        download.note = [1]
        download.expectedLength = 9
        download.resumeData = [1, 2]
        download.earliestBegin = Timestamp(nanoseconds: 5)
        download.redirects = .sameOrigin
        return [TransferRequest(download: address), TransferRequest(upload: "/a", to: address), download]
    }()

    private static let commands: [TransferCommand] = [
        .hello(version: TransferCommand.version, application: "org.example.App", secret: [1, 2]),
        .openSession(TransferSessionConfiguration(identifier: "s")), .removeSession("s"), .add(requests, session: "s"),
        .list(session: nil, after: TransferIdentifier(3)), .list(session: "s", after: first), .pause([first]),
        .resume([first, last]), .cancel([last], keepsResumeData: true), .acknowledge([1, 2]), .observe(session: "s"),
        .endObservation(session: "s"),
    ]

    private static let replies: [TransferReply] =
        [
            .done, .failed(code: "invalidURL", message: "m"), .added([first, last]), .transfers(statuses, isLast: true),
            .notification(.progress(first, completed: 1, total: nil), session: "s"),
            .notification(.progress(first, completed: 1, total: 2), session: "s"),
            .notification(.sessionFinished(lastEvent: 3), session: "s"),
        ] + events.map { .notification(.event($0), session: "s") }

    private static let outcomes: [TransferEvent.Outcome] = [
        .finished(response(from: address)), .finished(response(from: "https://b.test/")),
        .failed(code: "timedOut", message: "m"), .cancelled(reason: .application, resumeData: [1]),
        .cancelled(reason: .userForceQuit, resumeData: nil),
    ]

    private static func response(from url: String) -> TransferEvent.Response {
        TransferEvent.Response(path: "/p", length: 5, status: 200, effectiveURL: url, headers: ["ETag": "\"a\""])
    }

    private static let events = outcomes.map { outcome in
        TransferEvent(number: 1, transfer: first, kind: .upload, url: address, note: [1], outcome: outcome)
    }

    private static let statuses = TransferStatus.State.allCases.map { state in
        var status = TransferStatus(identifier: first, session: "s", state: state, kind: .download, url: address)
        status.totalBytes = 9
        status.nextAttempt = Timestamp(nanoseconds: 5)
        status.reasons = state == .waiting ? WaitReason.Code.allCases.map { WaitReason($0, text: "t") } : []
        return status
    }

    private static let journalRecords: [JournalRecord] =
        [
            .counters(nextTransfer: 2, nextEvent: 3), .boot("b"),
            .session(number: 1, application: "a", identity: [1], TransferSessionConfiguration(identifier: "s")),
            .sessionRemoved(number: 1), .response(transfer: 1, part), .mark(transfer: 1, offset: 4),
            .uploadLocation(transfer: 1, url: address, requiresPublicAddress: true), .paused(transfer: 1, true),
            .acknowledged([1, 2]),
        ] + requests.map { .added(added($0)) }
        + outcomes.map { .ended(EndedTransfer(transfer: 1, event: 2, outcome: $0, body: Array(0..<20))) }

    private static let part = PartDescription(
        validator: "\"a\"",
        effectiveURL: address,
        totalLength: 9,
        status: 206,
        headers: PartDescription.keptFields(of: ["Content-Type": "image/png"])
    )

    private static func added(_ request: TransferRequest) -> AddedTransfer {
        AddedTransfer(
            number: 1,
            session: 1,
            created: Timestamp(nanoseconds: 5),
            createdUptime: .seconds(1),
            boot: 1,
            request: request,
            uploadLength: 0,
            hasSecret: true
        )
    }

    static let records: [[UInt8]] = {
        let headers: HTTPHeaders = ["Authorization": "Bearer a"]
        let resumed = ["1a", ""].map { ResumeData(token: $0, part: part, url: address) }
        return seeds(0, resumed) + [[1] + RequestSecret.encode(headers), [1] + WireWriter.encode(headers)]
    }()

    static let session: [[UInt8]] =
        seeds(0, [resumable]) + seeds(1, ["t", nil].map { TaskNote(identifier: 3, text: $0) }) + seeds(2, requests)
        + seeds(3, [["ETag": "\"a\"", "Accept": "*/*"] as HTTPHeaders])
        + seeds(4, [TransferSessionConfiguration(identifier: "s")])
        + [resumable.bytes, WireWriter.encode(TaskNote(identifier: 3, text: "t")), [0] + noURL]

    private static let resumable: ResumableRequest = {
        var request: BackgroundURLSession.Request = "https://a.test/b"
        request.headers = ["Accept": "*/*"]
        return ResumableRequest(request: request, data: [1, 2])
    }()

    /// The bytes of a request whose URL is none.
    private static var noURL: [UInt8] {
        var bytes = resumable.bytes
        bytes[8] = UInt8(ascii: " ")
        return bytes
    }
}

// MARK: Supervision

extension MessageSeeds {
    static let supervisor: [[UInt8]] =
        seeds(0, applicationMessages) + seeds(1, supervisorMessages) + seeds(2, controlRequests)
        + seeds(3, controlAnswers) + seeds(4, transferSupervision) + seeds(5, [ApplicationRecord(), record])
        + [[1, 3, 0], [1] + WireWriter.encode(SupervisionProtocol.version)]

    private static let url = IncomingURL("https://example.org/", id: 1, source: "org.example.Two")
    private static let wake = WakeReason(.session, id: 1, session: "s", payload: [1])

    private static let applicationMessages: [ApplicationMessage] =
        [
            .hello(Hello()), .hello(hello), .acknowledged(sequence: 9), .taskNames(["a"], request: 3), .idle,
            .urlAnswered(1, isHandled: true), .presentation(PresentationMessage(isVisible: true, isFocused: false)),
            .leaving, .wakes(.registerForMessages),
        ] + WakeResult.allCases.map { .wakeCompleted(1, $0) }
        + ContinuousAssertion.allCases.map { .assertion($0, isHeld: true) }

    private static let hello: Hello = {
        var hello = Hello(identifier: "org.example.One")
        hello.declarations.backgroundBudget = .seconds(60)
        hello.presentation = PresentationMessage(isVisible: true, isFocused: true)
        hello.running = Hello.RunningState(.suspended, token: [1, 2], generation: 3)
        hello.running?.wakes = [wake]
        hello.running?.assertions = [.audio]
        return hello
    }()

    private static let supervisorMessages: [SupervisorMessage] =
        [
            .welcome(Welcome(generation: 2, token: [1], archiveDirectory: "/a", socketPath: "/s")),
            .expire(deadline: .seconds(1)), .memoryWarning(level: 2), .suspended(from: .seconds(1), to: .seconds(2)),
            .taskNames(request: 3), .exit, .wakes(.socket("s")),
        ] + LifecycleEffect.Refusal.allCases.map { .refused($0) }
        + callbacks.map { .lifecycle($0, sequence: 3, deadline: .seconds(1)) }

    private static let callbacks: [LifecycleCallback] = [
        .launch(.user), .launch(.wake(.session)), .launch(.notificationResponse("r")), .launchInBackground(.url(url)),
        .didBecomeActive, .willResignActive, .didEnterBackground, .willEnterForeground, .openURL(url), .wake(wake),
        .willTerminate,
    ]

    private static let controlRequests: [ControlRequest] =
        [
            .list, .launch(identifier: "a", url: "x:1", inBackground: true), .foreground(identifier: "a"),
            .background(identifier: "a"), .quit(identifier: "a", force: true), .explain(identifier: "a"),
            .log(identifier: "a", count: 3), .log(identifier: nil, count: 3),
            .install(identifier: "a", program: program), .wake(identifier: "a", kind: .fetch), .awaitChange,
            .openURL(identifier: "a", url: "x:1", token: 2), .openURLByScheme("x:1", token: 2),
            .push(identifier: "a", payload: [1]), .followURL(token: 2),
        ] + simulations.map { .simulate(identifier: "a", $0) }

    private static let simulations: [ControlRequest.Simulation] = [
        .fetch, .task("t"), .expire, .memory(2), .location(latitude: 1, longitude: 2, accuracy: 3),
    ]

    private static let program: ProgramDescription = {
        var program = ProgramDescription(executable: "/usr/bin/one")
        program.arguments = ["-v"]
        program.environment = ["A=b"]
        program.directory = "/"
        return program
    }()

    private static let controlAnswers: [ControlAnswer] =
        [
            ControlAnswer(.done), ControlAnswer(.lines(["a", "b"]), isLast: false),
            ControlAnswer(.applications(LifecycleState.allCases.map(status(in:)))),
        ] + ControlAnswer.Refusal.allCases.map { ControlAnswer(.refused($0, message: "m")) }

    private static func status(in state: LifecycleState) -> ApplicationStatus {
        var status = ApplicationStatus(identifier: "a", state: state)
        status.process = 12
        status.freezer = .controlGroup
        status.backgroundTimeRemaining = .seconds(1)
        status.lastExit = "exit 0"
        status.snapshotPath = "/s.png"
        return status
    }

    private static let transferSupervision: [TransferSupervision] = [
        .connection(application: "a"), .forceQuit(application: "a"), .network(isMetered: true),
        .wake(application: "a", session: "s"), .listener, .hold(application: "a", isHeld: true),
        .wakeFailed(application: "a", session: "s"),
    ]

    private static let record: ApplicationRecord = {
        var record = ApplicationRecord(), process = ApplicationRecord.ProcessRecord()
        process.identifier = 12
        process.state = .background
        process.assertions = [.audio]
        process.suspensionTime = .seconds(1)
        process.killReport = "r"
        process.groupPath = "/g"
        process.memoryPriorities = [.init(process: 12, own: 1, written: 2)]
        process.progressNumbers = ["a": 1, "b": 2]
        process.intention.graceEnd = .seconds(1)
        process.intention.urls = [.init(url)]
        process.intention.wakes = [OpenWake(wake, allowance: .seconds(1))]
        process.intention.presentation = PresentationMessage(isVisible: true, isFocused: true)
        record.program = program
        record.wakeCrashCounts = [.fetch: 2]
        record.processNumber = 7
        record.process = process
        record.waitingWakes = [OpenWake(wake, allowance: .seconds(1))]
        record.waitingURLs = [.init(url, token: 4)]
        record.waitingLaunch = .background
        return record
    }()
}

// MARK: Wakes

extension MessageSeeds {
    static let wakes: [[UInt8]] = seeds(0, [wakeRecord]) + seeds(1, wakeCommands) + seeds(2, wakeReplies)

    private static let now = ScheduleTime(steady: 1_700_000_000, local: 1_700_003_600, offset: 3_600)

    private static let notifications: [NotificationRequest] = {
        let triggers: [NotificationRequest.Trigger] = [
            .now, .interval(60, repeats: true), .date(1_700_000_060), .daily(second: 60, weekday: 1),
            .daily(second: 60, weekday: nil),
        ]
        let sounds: [NotificationRequest.Sound] = [.none, .standard, .named("bell"), .none, .none]
        return zip(triggers, sounds).enumerated().map { index, pair in
            let content = NotificationRequest.Content(title: "t", body: "b", sound: pair.1, badge: 3, userInfo: "u")
            return NotificationRequest(identifier: "n\(index)", content: content, trigger: pair.0)
        }
    }()

    private static let taskRequests: [TaskRequest] = [
        TaskRequest(.processing, identifier: "p", earliestBegin: 60, constraints: .init(needsNetwork: true)),
        TaskRequest(.refresh, identifier: "r"),
    ]

    private static let wakeRecord: WakeRecord = {
        var record = WakeRecord(schedule: WakeSchedule(at: now))
        record.program = program
        record.schedule.setFetchInterval(.seconds(900), at: now)
        record.schedule.recordUse(at: now)
        for request in taskRequests { try? record.schedule.submit(request, at: now) }
        record.schedule.quota.charge(20, at: now.steady)
        record.schedule.score.record(.failed, seconds: 3)
        for request in notifications {
            _ = record.notifications.add(request, at: now)
            record.notifications.delivered.append(.init(request: request, number: 1, date: 2))
        }
        record.notifications.badge = 2
        _ = record.throttle.admit([1], at: now.steady)
        record.throttle.waiting = [1]
        record.messageToken = "t"
        record.messageAddress = "https://push.test/"
        record.wantsLocation = true
        let file = WakeCrashes.ProgramFile(inode: 3, modificationTime: 4)
        record.crashes = WakeCrashes(counts: [.fetch: 2, .voip: 5], time: now.steady, program: file)
        return record
    }()

    private static let wakeCommands: [WakeCommand] =
        [
            .setFetchInterval(.never), .setFetchInterval(.minimum), .setFetchInterval(.seconds(60)), .cancel(nil),
            .cancel("p"), .removeNotifications(["n"], waiting: true, shown: false),
            .removeNotifications(nil, waiting: true, shown: true), .listNotifications(number: 1), .setBadge(3),
            .registerForMessages, .unregisterFromMessages, .keepSocket("s"), .releaseSocket("s"),
            .setLocationUpdates(true), .reportContinued("e", completed: 7, total: 10), .endContinued("e"),
            .beginContinued(ContinuedWorkMessage(identifier: "e", title: "Export", subtitle: ""), number: 2),
        ] + taskRequests.map { .submit($0, number: 1) } + notifications.map { .addNotification($0, number: 1) }

    private static let wakeReplies: [WakeReply] =
        [
            .task(nil, number: 1), .notification(fault: "f", number: 1), .notification(fault: nil, number: 1),
            .notifications(["n"], number: 1, isLast: true),
            .response(NotificationResponseMessage(identifier: "n", action: "default", userInfo: "u", date: 1)),
            .address("https://example.org", reason: ""), .address(nil, reason: "r"), .action("a", parameter: "p"),
            .socket("s"), .stopContinued("e", reason: "r"),
        ] + TaskRequestError.allCases.map { .task($0, number: 1) }
}

// MARK: Sandbox

extension MessageSeeds {
    static var sandbox: [[UInt8]] {
        guard let layout = ResultLayout(size: PixelSize(width: 3, height: 5), frameCount: 7) else { return [] }
        // The last two have a text that is none, and a size that no image has.
        return seeds(0, replies(layout)) + seeds(1, requests(layout)) + frameRecords
            + [[0, 1, 1, 0, 0, 0, 0xff], [1, 4] + [UInt8](repeating: 0, count: 25)]
    }

    static var wire: [[UInt8]] {
        guard let layout = ResultLayout(size: PixelSize(width: 3, height: 5), frameCount: 7) else { return [] }
        let notes = ["t", nil].map { TaskNote(identifier: 3, text: $0) }
        let headers: HTTPHeaders = ["ETag": "\"a\""]
        return seeds(0, replies(layout)) + seeds(1, requests(layout)) + seeds(2, notes) + seeds(3, [wakeRecord.crashes])
            + seeds(4, [wake]) + seeds(5, [wakeRecord]) + seeds(6, [headers])
            + [[0, 1, 1, 0, 0, 0, 0xff], [1, 4] + [UInt8](repeating: 0, count: 25)]
    }

    private static func replies(_ layout: ResultLayout) -> [HelperReply] {
        let size = layout.size
        let header = HeaderDescription(
            ImageHeader(format: .gif, size: size, frameCount: 7, loopCount: nil, durations: [.milliseconds(40)])
        )
        let animation = AnimationInfo(
            format: .gif,
            size: size,
            sourceSize: size,
            durations: [.milliseconds(40)],
            loopCount: 2,
            isComplete: true
        )
        let result = ResultDescription(
            frameCount: 7,
            loopCount: 2,
            sourceSize: size,
            isPartial: true,
            processorTime: .milliseconds(3)
        )
        let usage = DecoderUsage(retainedByteCount: 1, decodedByteCount: 2)
        return [
            .ready(HelperDescription(restrictions: .network, formats: ["png"], addressSpace: 9)),
            .failure(.corrupt, message: "reason"), .header(header), .header(nil),
            .opened(header, DecodeMemory(working: 8, kept: 4), layout), .decoded(result),
            .decodedAtOnce(header, layout, result), .animation(AnimationDescription(animation), usage),
            .animation(nil, usage), .frame(result, usage), .frame(nil, usage),
            .metadata(MetadataLayout(ImageMetadata(exif: [1], xmp: [2, 3], iccProfile: [4]))),
            .metadata(MetadataLayout(ImageMetadata())),
        ]
    }

    private static func requests(_ layout: ResultLayout) -> [HelperRequest] {
        let modes: [ContentMode] = [
            .fit, .fill, .stretch, .fillCropped(focus: .content), .fillCropped(focus: .point(x: 0.25, y: 0.75)),
        ]
        let options = modes.enumerated().map { index, mode in
            var options = DecodeOptions()
            options.size = PixelSize(width: 3, height: 5)
            options.contentMode = mode
            options.frames = index == 0 ? .all : .first
            return options
        }
        let kept = KeptDecoderOptions(
            kind: .animation,
            number: 3,
            capacity: 9,
            maximumCopyBytes: 4,
            options: DecodeOptions(),
            limits: DecodeLimits()
        )
        return [
            .input(byteCount: 9), .window(byteCount: 9), .header(byteCount: 9, isComplete: true),
            .decode(layout, isInWindow: true), .keep(kept, byteCount: 9, isComplete: false),
            .extend(3, byteCount: 9, isComplete: true), .release([1, 2]), .metadata(byteCount: 9, capacity: 64),
            .frame(3, index: 4, layout, isInWindow: false),
        ] + options.map { .open(byteCount: 9, options: $0, limits: DecodeLimits(), immediateMemory: 1) }
    }

    private static let frameRecords = [PixelBuffer.Alpha.opaque, .straight, .premultiplied].map { alpha in
        var bytes = [UInt8](repeating: 0, count: ResultLayout.recordSize)
        let record = FrameRecord(duration: .milliseconds(40), part: 3, alpha: alpha)
        bytes.withUnsafeMutableBytes { if let base = $0.baseAddress { record.write(to: base) } }
        return bytes
    }
}

// MARK: Sound

extension MessageSeeds {
    /// The answers to lists of players, recorders and clients, requests, and each value that none of them has.
    static let sound: [[UInt8]] = {
        let number: [UInt8] = [UInt8(ascii: "L"), 0, 0, 0, 1]
        let time: [UInt8] = [UInt8(ascii: "U"), 0, 0, 0, 0, 0, 0, 0, 0]
        let form: [UInt8] = [UInt8(ascii: "a"), 3, 1, 0, 0, 172, 68, UInt8(ascii: "m"), 1, 0]
        let volume: [UInt8] = [UInt8(ascii: "v"), 1, 0, 1, 0, 0]
        let name: [UInt8] = Array("tmusic\0".utf8), driver: [UInt8] = Array("tnone\0N0".utf8)
        let process = Array("P".utf8) + property("application.process.id", "42") + Array("N".utf8)
        let kernel = Array("P".utf8) + property("pipewire.sec.pid", "42") + Array("N".utf8)
        let none: [UInt8] = Array("N".utf8), flag: [UInt8] = Array("0".utf8)
        let player = [number, name, number, number, number, form, volume, time, time, name, none, flag, process]
        let recorder = [number, name, number, number, number, form, time, time, name, none, process]
        let clients = [process, kernel].map { [number, name, number, none] + [$0] }
        // A number of a byte, of eight bytes, a volume, time, data, a format with its properties, and no value.
        let rare = "B1;r12345678;R12345678;V1234;T12345678;x\0\0\0\u{1}a;fB1PN;q".utf8.split(
            separator: UInt8(ascii: ";")
        )
        let lists = [player + [Array("011".utf8)], recorder + [Array("1".utf8)]] + clients
        return lists.map { Array($0.joined()) }
            + [SoundMessage.request(.authenticate, number: 1), SoundMessage.request(.subscribe, number: 1)]
            + [SoundMessage.request(.setName, number: 1), SoundMessage.request(.listClients, number: 1)]
            + rare.map { Array($0) } + ["P", "f"].map { Array(String(repeating: $0, count: 4_096).utf8) }
            + [Array("Pta\0L\0\0\0\u{1}x\0\0\0\u{2}".utf8), Array("Pta".utf8), Array("PL".utf8)]
    }()

    private static func property(_ name: String, _ text: String) -> [UInt8] {
        let length: [UInt8] = [0, 0, 0, UInt8(text.utf8.count + 1)]
        return Array("t\(name)\0L".utf8) + length + Array("x".utf8) + length + Array("\(text)\0".utf8)
    }
}
