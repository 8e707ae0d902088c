import EideticCodecs
import EideticCore
import EideticHTTP
import EideticLifecycle
import EideticSandbox
import EideticSupervision

@testable import EideticSupervisor
@testable import EideticTransfer
@testable import EideticTransferEngine

extension FuzzTarget {
    /// The frames that processes send each other, and the records that they keep; the first byte selects the type.
    static let messages = [
        FuzzTarget(name: "transfer-message", seeds: { MessageSeeds.transfer }) { bytes in
            if let other = TransferCommand.otherVersion(ofGreeting: bytes) {
                require(TransferCommand.mismatch(application: other.version) != nil, "\(other) is this version")
            }
            select(
                bytes,
                from: [
                    check(NumberedMessage<TransferCommand>.self), check(NumberedMessage<TransferReply>.self),
                    check(TransferEvent.self), check(TransferStatus.self, use), checkJournal,
                ]
            )
        },
        FuzzTarget(name: "supervisor-message", seeds: { MessageSeeds.supervisor }) { bytes in
            if let version = SupervisionProtocol.otherVersion(ofGreeting: bytes) {
                let own = SupervisionProtocol.version
                let sentence = SupervisionProtocol.mismatch(application: version, supervisor: own)
                require(sentence != nil, "\(version) is this version")
            }
            select(
                bytes,
                from: [
                    check(ApplicationMessage.self), check(SupervisorMessage.self), check(ControlRequest.self),
                    check(ControlAnswer.self), check(TransferSupervision.self), check(ApplicationRecord.self, adopt),
                ]
            )
        },
        FuzzTarget(name: "wake-record", seeds: { MessageSeeds.wakes }) {
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
        FuzzTarget(name: "sound-message", seeds: { MessageSeeds.sound }) { bytes in
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
        FuzzTarget(name: "sandbox-message", seeds: { MessageSeeds.sandbox }) { bytes in
            select(bytes, from: [check(HelperReply.self, use), check(HelperRequest.self)])
            guard let layout = ResultLayout(size: PixelSize(width: 3, height: 5), frameCount: 7) else { return }
            guard let record = bytes.withUnsafeBytes({ FrameRecord($0, layout: layout) }) else { return }
            require(record.part < 7 && record.duration >= .zero, "a frame outside of its memory")
            var written = [UInt8](repeating: 0, count: ResultLayout.recordSize)
            written.withUnsafeMutableBytes { if let base = $0.baseAddress { record.write(to: base) } }
            require(written == bytes, "\(record) is written as \(written)")
        },
        // Records that together have every form of a value.
        FuzzTarget(name: "wire", seeds: { MessageSeeds.wire }) { bytes in
            select(
                bytes,
                from: [
                    check(HelperReply.self), check(HelperRequest.self), check(TaskNote.self), check(WakeCrashes.self),
                    check(WakeReason.self), check(WakeRecord.self), check(HTTPHeaders.self),
                ]
            )
        },
        // Bytes that an application hands to the transfer process, and fields in that process's own file.
        FuzzTarget(name: "transfer-record", seeds: { MessageSeeds.records }) { bytes in
            select(bytes, from: [check(ResumeData.self), checkSecret])
        },
        FuzzTarget(name: "session-record", seeds: { MessageSeeds.session }) { bytes in
            if let request = try? ResumableRequest(bytes) { require(!request.bytes.isEmpty, "no bytes") }
            let transfer = TransferIdentifier(7)
            let note = TaskNote.decode(bytes, of: transfer)
            require(TaskNote.decode(WireWriter.encode(note), of: transfer) == note, "\(note) is read otherwise")
            select(
                bytes,
                from: [
                    check(ResumableRequest.self), check(TaskNote.self), check(TransferRequest.self),
                    check(HTTPHeaders.self), check(TransferSessionConfiguration.self),
                ]
            )
        },
    ]

    private static func select(_ bytes: [UInt8], from checks: [([UInt8]) -> Void]) {
        guard let first = bytes.first else { return }
        checks[Int(first) % checks.count](Array(bytes.dropFirst()))
    }

    /// Returns a check that what was read can be used and passed on, and is read as the same bytes.
    private static func check<Value: WireValue>(
        _ type: Value.Type,
        _ use: @escaping (Value) -> Void = { _ in }
    ) -> ([UInt8]) -> Void {
        { bytes in
            guard let value = try? WireReader.decode(type, from: bytes) else { return }
            use(value)
            let written = WireWriter.encode(value)
            guard let again = try? WireReader.decode(type, from: written) else {
                fatalError("\(value) is not read as it was written")
            }
            require(WireWriter.encode(again) == written, "\(value) is written as \(again)")
        }
    }

    /// Returns the same check of values that can be compared: one that is read again is the same value.
    private static func check<Value: WireValue & Equatable>(
        _ type: Value.Type,
        _ use: @escaping (Value) -> Void = { _ in }
    ) -> ([UInt8]) -> Void {
        { bytes in
            guard let value = try? WireReader.decode(type, from: bytes) else { return }
            use(value)
            let written = WireWriter.encode(value)
            let again = try? WireReader.decode(type, from: written)
            // One with a number that is none is not equal to itself.
            require(again == value || value != value, "\(value) is read as \(String(describing: again))")
            require(again.map { WireWriter.encode($0) } == written, "\(value) is written otherwise")
        }
    }

    /// Checks that the fields of a request are read as they were written, also behind a checksum that is right.
    private static func checkSecret(_ bytes: [UInt8]) {
        var sealed = WireWriter()
        sealed.append(bytes.withUnsafeBytes { Checksum.value(of: $0) })
        for bytes in [bytes, sealed.bytes + bytes] {
            guard let headers = RequestSecret.decode(bytes), !headers.isEmpty else { continue }
            require(RequestSecret.decode(RequestSecret.encode(headers)) == headers, "\(headers) are read otherwise")
        }
    }

    /// Checks that a record of the journal is read as it was written: with the same body, and another mask over it.
    private static func checkJournal(_ bytes: [UInt8]) {
        guard let record = try? WireReader.decode(JournalRecord.self, from: bytes) else { return }
        let again = try? WireReader.decode(JournalRecord.self, from: WireWriter.encode(record))
        require(again.map { "\($0)" } == "\(record)", "\(record) is read as \(String(describing: again))")
    }

    /// Uses the status of a transfer as programs do that show it.
    private static func use(_ status: TransferStatus) {
        require(!status.state.name.isEmpty && status.reasons.allSatisfy { !$0.code.name.isEmpty }, "no name")
        require(status.earliestBegin == nil || status.earliestBegin == status.nextAttempt, "another time")
        require(status.state.isTerminal != [.waiting, .running, .paused].contains(status.state), "\(status.state)")
    }

    /// Makes the requests of a record with numbers of another supervisor, and the record of these requests.
    private static func adopt(_ record: ApplicationRecord) {
        var number: UInt64 = 0
        var next = ApplicationRecord()
        let requests = record.requests { url in
            number += 1
            return url.url(numbered: number)
        }
        for request in requests { next.add(request) { ApplicationRecord.URLRecord($0) } }
        require(next.waitingWakes == record.waitingWakes, "\(record.waitingWakes) became \(next.waitingWakes)")
        require(next.waitingURLs.map(\.text) == record.waitingURLs.map(\.text), "other URLs: \(next.waitingURLs)")
        require(next.waitingLaunch == record.waitingLaunch, "another launch: \(String(describing: next.waitingLaunch))")
    }

    /// Uses a reply of a decoding process as the sandbox does, which has the durations and the parts in shared memory.
    private static func use(_ reply: HelperReply) {
        switch reply {
        case .opened(_, _, let layout) where layout.byteCount < layout.recordOffset:
            require(false, "\(layout) overflows")
        case .header(let header?), .opened(let header, _, _), .decodedAtOnce(let header, _, _):
            let durations = [Duration](repeating: .zero, count: header.durationCount)
            require(HeaderDescription(header.header(durations: durations)) == header, "\(header) is another header")
        case .animation(let animation?, _):
            let durations = [Duration](repeating: .zero, count: animation.frameCount)
            let info = animation.info(durations: durations)
            require(AnimationDescription(info) == animation, "\(animation) is another animation")
        case .metadata(let layout) where layout.byteCount <= 1 << 16: copy(layout)
        default: break
        }
    }

    private static func copy(_ layout: MetadataLayout) {
        let bytes = [UInt8](repeating: 0xff, count: layout.byteCount)
        let metadata = bytes.withUnsafeBytes { layout.metadata(from: $0) }
        var written = [UInt8](repeating: 0, count: layout.byteCount)
        written.withUnsafeMutableBytes { MetadataLayout.write(metadata, to: $0) }
        require(written == bytes, "the parts of \(layout) overlap")
        let places = MetadataLayout(metadata).lengths.map { $0 ?? 0 }
        require(places == layout.lengths.map { $0 ?? 0 }, "\(layout) became \(places)")
    }

    private static let pushSeeds =
        texts([
            #"{"aps":{"content-available":1,"x":[1,-2.5e3,"\u00e9",null,true,[],{}]},"n":{}}"#,
            #"{"content-available":1}"#, #" { "a" : [ false , 0.5E+7 ] , "content-available" : 1 } "#, "[1]", "{}",
            #"{"a":"#, #"{"a":"\"#, "{\"a\":\"\u{1}\"}", #"{"a":tru}"#, #"{"a":-}"#, #"{"content-available":1} 2"#,
            String(repeating: #"{"a":"#, count: 40), #"{"a":"# + String(repeating: "[", count: 40),
            String(repeating: " ", count: PushPayload.lengthLimit + 1),
        ]) + [[0x7b, 0xff]]
}
