import EideticCodecs
import EideticCore
import EideticHTTP
import EideticSandbox
import EideticSupervisor
import EideticWire
import LifecycleCore

@testable import EideticTransfer

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
        FuzzTarget(name: "sandbox-message", seeds: { sandboxSeeds }) { bytes in
            select(bytes, from: [check(HelperReply.self), check(HelperRequest.self)])
            guard let layout = ResultLayout(size: PixelSize(width: 3, height: 5), frameCount: 7) else { return }
            let record = bytes.withUnsafeBytes { FrameRecord($0, layout: layout) }
            require(record.map { $0.part < 7 && $0.duration >= .zero } ?? true, "a frame outside of its memory")
        },
        FuzzTarget(name: "session-record", seeds: { [[0, 1], [1, 1]] }) {
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
    private static func check<Value: WireEncodable & WireDecodable>(_ type: Value.Type) -> ([UInt8]) -> Void {
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

    private static var sandboxSeeds: [[UInt8]] {
        guard let layout = ResultLayout(size: PixelSize(width: 3, height: 5), frameCount: 7) else { return [] }
        let header = HeaderDescription(ImageHeader(format: .gif, size: layout.size, frameCount: 7, loopCount: nil))
        let replies: [HelperReply] = [
            .ready(HelperDescription(restrictions: .network, formats: ["png"], addressSpace: 9)),
            .failure(.corrupt, message: "reason"), .header(header), .opened(header, workingMemory: 8, layout),
        ]
        let requests: [HelperRequest] = [
            .open(byteCount: 9, options: DecodeOptions(), limits: DecodeLimits()), .decode(layout, isInWindow: true),
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
            [2] + WireWriter.encode(ControlRequest.log(identifier: "a", count: 3)),
            [4] + WireWriter.encode(TransferSupervision.wake(application: "a", session: "s")),
        ]
}
