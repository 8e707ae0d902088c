import EideticCore
import EideticHTTP
import EideticTestSupport
import EideticTransfer
@testable import EideticTransferEngine
import Glibc
import Testing

/// Mutated frames: what is decoded is a value that can be encoded, and nothing crashes.
@Suite("mutated frames", .timeLimit(.minutes(30)))
struct FuzzTests {
    private static let supervision: [TransferSupervision] = [
        .connection(application: "a"), .forceQuit(application: "a"), .network(isMetered: true), .listener,
        .wake(application: "a", session: "s"), .hold(application: "a", isHeld: true),
        .wakeFailed(application: "a", session: "s"),
    ]

    @Test("B14 a body of any length is read from a record as it was written, and does not stand there as it is")
    func bodies() throws {
        for length in [0, 1, 7, 8, 9, 15, 16, 17, 65_535, 65_536] {
            let body = Body.bytes(length)
            let outcome = TransferEvent.Outcome.failed(code: "c", message: "m")
            let record = EndedTransfer(transfer: 1, event: 2, outcome: outcome, body: body)
            let written = WireWriter.encode(record)
            #expect(try WireReader.decode(EndedTransfer.self, from: written).body == body, "\(length) bytes")
            #expect(length < 8 || written.suffix(length) != body[...])
            let mask = Array(written.suffix(length + 8).prefix(8))
            #expect(written.suffix(length).enumerated().map { $1 ^ mask[$0 % 8] } == body, "\(length) bytes")
        }
    }

    @Test("B14 an event fits into a packet; its header fields are left out only within 512 bytes of one")
    func fittingEvents() {
        let url = "http://localhost/" + String(repeating: "u", count: 2_000)
        let limit = PacketSocket.maximumPacketLength
        var lengths: Set<Bool> = []
        for length in stride(from: limit - 6_000, through: limit, by: 7) {
            let headers: HTTPHeaders = ["A": String(repeating: "a", count: length)]
            let response = TransferEvent.Response(
                path: "/b",
                length: 1,
                status: 200,
                effectiveURL: url + "b",
                headers: headers
            )
            let event = TransferEvent(
                number: 1,
                transfer: TransferIdentifier(1),
                kind: .download,
                url: url,
                note: [1, 2],
                outcome: .finished(response)
            )
            func size(_ event: TransferEvent) -> Int {
                let reply = TransferReply.notification(.event(event), session: String(repeating: "s", count: 255))
                return WireWriter.encode(NumberedMessage(number: 0, message: reply)).count
            }
            let fitting = event.fittingPacket()
            #expect(size(fitting) <= limit && (fitting == event || size(event) > limit - 512), "\(length) bytes")
            lengths.insert(fitting == event)
        }
        #expect(lengths == [true, false])
    }

    /// Changes, inserts, removes and repeats bytes.
    private static func mutate(_ bytes: [UInt8], with numbers: inout SplitMix) -> [UInt8] {
        var bytes = bytes
        for _ in 0...numbers.next(below: 4) {
            let place = bytes.isEmpty ? 0 : Int(numbers.next(below: UInt64(bytes.count)))
            switch numbers.next(below: 6) {
            case 0 where !bytes.isEmpty: bytes[place] ^= 1 << UInt8(numbers.next(below: 8))
            case 1 where !bytes.isEmpty: bytes[place] = UInt8(numbers.next(below: 256))
            case 2 where !bytes.isEmpty: bytes.remove(at: place)
            case 3: bytes.insert(UInt8(numbers.next(below: 256)), at: place)
            case 4: bytes.removeLast(bytes.count - place)
            // Lengths are where an allocation can go wrong.
            default: bytes.replaceSubrange(place..<min(place + 4, bytes.count), with: [255, 255, 255, 255])
            }
        }
        return bytes
    }

    /// Decodes mutations of messages; returns the number of those that are messages too.
    private static func decode<Message: WireValue>(
        _ messages: [Message],
        count: Int,
        seed: UInt64
    ) throws -> Int {
        var numbers = SplitMix(state: seed), valid = 0
        let frames = messages.map { WireWriter.encode($0) }
        for index in 0..<count {
            let frame = mutate(frames[index % frames.count], with: &numbers)
            guard let message = try? WireReader.decode(Message.self, from: frame) else { continue }
            valid += 1
            // What was read can be passed on, and is read as the same bytes.
            let written = WireWriter.encode(message)
            #expect(try WireWriter.encode(WireReader.decode(Message.self, from: written)) == written)
        }
        return valid
    }

    @Test("B14 mutated messages are refused or are messages, and nothing crashes")
    func messages() throws {
        let count = Torture.repetitions(30_000, full: 1_000_000) / 3
        #expect(try Self.decode(MessageTests.commands, count: count, seed: 1) > 0)
        #expect(try Self.decode(MessageTests.replies, count: count, seed: 2) > 0)
        #expect(try Self.decode(Self.supervision, count: count, seed: 3) > 0)
    }

    @Test("B14 the transfer process survives mutated frames, and serves others meanwhile")
    func process() async throws {
        let directory = try TemporaryDirectory(named: "fuzz")
        let process = try ServiceProcess(in: directory)
        let client = try process.connect()
        let hello = WireWriter.encode(
            TransferCommand.hello(version: TransferCommand.version, application: "fuzz", secret: [])
        )
        var numbers = SplitMix(state: 4)
        let frames = MessageTests.commands.map { WireWriter.encode($0) }
        let count = Torture.repetitions(2_000, full: 100_000)
        var socket: PacketSocket?
        for index in 0..<count {
            let current = try socket ?? PacketSocket.connect(to: process.socketPath)
            if socket == nil { _ = try? current.send([1, 0, 0, 0] + hello) }
            let prefix: [UInt8] = numbers.next(below: 20) == 0 ? [] : [2, 0, 0, 0]
            let frame = prefix + Self.mutate(frames[index % frames.count], with: &numbers)
            // A connection that has sent nonsense is closed; replies that nobody reads hold up this one alone.
            let isSent = (try? current.send(frame.isEmpty ? [0] : frame)) ?? false
            socket = isSent ? current : nil
            if index % 500 == 0 { _ = try await client.transfers(in: nil) }
        }
        _ = try await client.transfers(in: nil)
        #expect(process.isRunning)
    }
}
