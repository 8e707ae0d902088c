import EideticCore
import EideticFetch
import EideticHTTP
import EideticTransfer
import EideticTransferEngine
import Testing

@Suite("messages of transfers")
struct MessageTests {
    private static let request: TransferRequest = {
        var request = TransferRequest(upload: "/tmp/a", to: "http://a.test/b", method: "POST")
        request.headers = ["Authorization": "Bearer t", "X-A": "1"]
        request.note = [1, 2, 3]
        request.expectedLength = 7
        request.priority = -3
        request.resumeData = [9]
        request.earliestBegin = Timestamp(nanoseconds: 11)
        return request
    }()

    static let commands: [TransferCommand] = [
        .hello(version: 1, application: "org.example.App", secret: [1, 2]),
        .openSession(TransferSessionConfiguration(identifier: "s")),
        .removeSession("s"), .add([request], session: "s"), .list(session: nil, after: TransferIdentifier(3)),
        .list(session: "s", after: TransferIdentifier(0)), .pause([TransferIdentifier(1)]), .resume([]),
        .cancel([TransferIdentifier(.max)], keepsResumeData: true), .acknowledge([1, 2]),
        .observe(session: "s"), .endObservation(session: "s"),
    ]

    @Test("B14 each command is read as it was written, without the path of the file", arguments: commands)
    func commandsAreReadAsWritten(_ command: TransferCommand) throws {
        let decoded = try WireReader.decode(TransferCommand.self, from: WireWriter.encode(command))
        if case .add(var requests, let session) = command {
            requests[0].filePath = nil
            #expect(decoded == .add(requests, session: session))
        } else {
            #expect(decoded == command)
        }
    }

    @Test("B14 every truncated command is refused", arguments: commands)
    func truncatedCommandsAreRefused(_ command: TransferCommand) {
        let bytes = WireWriter.encode(command)
        for count in 0..<bytes.count {
            #expect(throws: WireError.self) {
                try WireReader.decode(TransferCommand.self, from: Array(bytes.prefix(count)))
            }
        }
    }

    private static let status: TransferStatus = {
        var status = TransferStatus(
            identifier: TransferIdentifier(1),
            session: "s",
            state: .waiting,
            kind: .download,
            url: "http://a.test/",
            note: [1]
        )
        status.nextAttempt = Timestamp(nanoseconds: 4)
        status.totalBytes = 5
        status.reasons = [WaitReason(.backoff, text: "waits")]
        status.lastError = "e"
        return status
    }()

    static let replies: [TransferReply] = [
        .done, .failed(code: "notFound", message: "no session"), .added([TransferIdentifier(8)]),
        .transfers([status], isLast: false),
        .notification(.progress(TransferIdentifier(1), completed: 2, total: 3), session: "s"),
        .notification(.sessionFinished(lastEvent: 9), session: "s"),
        .notification(.event(event(.failed(code: "timedOut", message: "m"))), session: "s"),
        .notification(.event(event(.cancelled(reason: .userForceQuit, resumeData: [1]))), session: "s"),
        .notification(
            .event(
                event(
                    .finished(
                        TransferEvent.Response(
                            path: "/p",
                            length: 1,
                            status: 206,
                            effectiveURL: "http://b.test/",
                            headers: ["ETag": "x"]
                        )
                    )
                )
            ),
            session: "s"
        ),
    ]

    private static func event(_ outcome: TransferEvent.Outcome) -> TransferEvent {
        TransferEvent(
            number: 5,
            transfer: TransferIdentifier(6),
            kind: .upload,
            url: "http://a.test/",
            note: [],
            outcome: outcome
        )
    }

    @Test("B14 each reply is read as it was written", arguments: replies)
    func repliesAreReadAsWritten(_ reply: TransferReply) throws {
        let bytes = WireWriter.encode(reply)
        #expect(try WireReader.decode(TransferReply.self, from: bytes) == reply)
        for count in 0..<bytes.count {
            #expect(throws: WireError.self) {
                try WireReader.decode(TransferReply.self, from: Array(bytes.prefix(count)))
            }
        }
    }
}
