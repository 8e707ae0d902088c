import EideticCore
import EideticSupervision
import EideticTestSupport
import Glibc
import EideticLifecycle
import Testing

@Suite("Messages between applications and the supervisor")
struct SupervisionMessageTests {
    private func checkRoundTrip<Message: WireValue & Hashable>(_ messages: [Message]) throws {
        for message in messages {
            let bytes = WireWriter.encode(message)
            #expect(try WireReader.decode(Message.self, from: bytes) == message)
            for count in bytes.indices {
                #expect(throws: WireError.self) { try WireReader.decode(Message.self, from: Array(bytes[..<count])) }
            }
            #expect(throws: WireError.self) { try WireReader.decode(Message.self, from: bytes + [0]) }
        }
    }

    @Test("B02 each message returns as it was sent, and is refused truncated or longer")
    func roundTrip() throws {
        try checkRoundTrip(SampleMessages.fromApplication)
        try checkRoundTrip(SampleMessages.fromSupervisor)
        try checkRoundTrip(SampleMessages.requests)
        try checkRoundTrip(SampleMessages.answers)
        try checkRoundTrip(SampleMessages.transferSupervision)
        try checkRoundTrip([SampleMessages.program, ProgramDescription(executable: "/a")])
    }

    @Test("B02 without a variable the runtime directory is that of the system for root, else that of the user")
    func runtimeDirectory() async {
        await #expect(processExitsWith: .success) {
            for name in ["EIDETIC_RUNTIME_DIR", "XDG_RUNTIME_DIR"] { unsetenv(name) }
            setenv("XDG_STATE_HOME", "/state", 1)
            let hasPlace = access("/run/user/\(geteuid())", F_OK) == 0
            let place = hasPlace ? "/run/user/\(geteuid())/eidetic" : "/state/eidetic/run"
            let expected = geteuid() == 0 ? "/run/eidetic" : place
            #expect(SupervisionProtocol.defaultRuntimeDirectory == expected)
            setenv("EIDETIC_RUNTIME_DIR", "relative", 1)
            #expect(SupervisionProtocol.defaultRuntimeDirectory == expected)
            setenv("EIDETIC_RUNTIME_DIR", "/tmp/r", 1)
            #expect(SupervisionProtocol.defaultRuntimeDirectory == "/tmp/r")
        }
    }

    @Test("B02 an unknown kind of message is refused", arguments: [0, 10, 255] as [UInt8])
    func unknownKind(kind: UInt8) {
        #expect(throws: WireError.self) { try WireReader.decode(ApplicationMessage.self, from: [kind]) }
        #expect(throws: WireError.self) { try WireReader.decode(SupervisorMessage.self, from: [kind]) }
    }

    @Test("B02 an identifier has at most 255 bytes", arguments: [254, 255, 256])
    func identifierLimit(length: Int) {
        let hello = ApplicationMessage.hello(Hello(identifier: String(repeating: "a", count: length)))
        let decoded = try? WireReader.decode(ApplicationMessage.self, from: WireWriter.encode(hello))
        #expect(decoded == (length <= 255 ? hello : nil))
    }

    @Test("B02 at most 1,024 names of tasks are read", arguments: [1_023, 1_024, 1_025])
    func listLimit(count: Int) {
        let message = ApplicationMessage.taskNames([String](repeating: "", count: count), request: 1)
        let decoded = try? WireReader.decode(ApplicationMessage.self, from: WireWriter.encode(message))
        #expect(decoded == (count <= 1_024 ? message : nil))
    }

    @Test("B02 a name of a task has at most 1,024 bytes", arguments: [1_023, 1_024, 1_025])
    func textLimit(length: Int) {
        let message = ApplicationMessage.taskNames([String(repeating: "a", count: length)], request: 1)
        let decoded = try? WireReader.decode(ApplicationMessage.self, from: WireWriter.encode(message))
        #expect(decoded == (length <= 1_024 ? message : nil))
    }

    @Test("B02 a mutated message is refused or decoded to a value that can be sent again")
    func mutations() {
        var random = SplitMix(state: 0x5eed)
        mutate(SampleMessages.fromApplication, random: &random)
        mutate(SampleMessages.fromSupervisor, random: &random)
        mutate(SampleMessages.requests, random: &random)
        mutate(SampleMessages.answers, random: &random)
    }

    /// Decodes mutations of the messages: 10⁶ of all kinds together at full count.
    private func mutate<Message: WireValue & Hashable>(
        _ messages: [Message],
        random: inout SplitMix
    ) {
        let frames = messages.map { WireWriter.encode($0) }
        var refusals = 0
        for number in 0..<Torture.repetitions(10_000, full: 250_000) {
            var frame = frames[number % frames.count]
            for _ in 0..<Int.random(in: 1...4, using: &random) { Self.mutate(&frame, random: &random) }
            do throws(WireError) {
                let message = try WireReader.decode(Message.self, from: frame)
                let again = try WireReader.decode(Message.self, from: WireWriter.encode(message))
                if again != message { Issue.record("\(message) is not \(again)") }
            } catch { refusals += 1 }
        }
        #expect(refusals > 0)
    }

    private static func mutate(_ frame: inout [UInt8], random: inout SplitMix) {
        let place = frame.isEmpty ? 0 : Int.random(in: 0..<frame.count, using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0 where !frame.isEmpty: frame[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1 where !frame.isEmpty: frame[place] = [0, 1, 0x7f, 0x80, 0xff].randomElement(using: &random) ?? 0
        case 2 where !frame.isEmpty: frame.removeSubrange(place...)
        case 3: frame.insert(UInt8.random(in: 0...255, using: &random), at: place)
        default: frame += frame.suffix(8)
        }
    }
}
