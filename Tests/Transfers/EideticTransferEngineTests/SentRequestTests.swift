import EideticCore
import EideticHTTP
import EideticTestSupport
import EideticTransfer
import EideticTransferEngine
import Testing

/// `RequestGrammar` names the sections of the standards.
@Suite("requests of transfers as they are sent", .timeLimit(.minutes(2)))
struct SentRequestTests {
    private static func response(_ text: HostileText) -> [ScriptedOrigin.Step] {
        func line(_ start: String, _ end: String = "") -> [UInt8] {
            Array(start.utf8) + text.bytes(without: [0, 10, 13]) + Array("\(end)\r\n".utf8)
        }
        let end = Array("\r\n".utf8)
        if text.number(below: 4) == 0 {
            let status = Array("HTTP/1.1 302 Found\r\nContent-Length: 0\r\n".utf8)
            return [.send(status + line("Location: /b?") + end)]
        }
        let tag = text.number(below: 2) == 0 ? line("ETag: ") : line("ETag: \"", "\"")
        let head = Array("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n".utf8) + tag + line("Last-Modified: ")
        let isCut = text.number(below: 3) == 0
        let body = Body.bytes(isCut ? 500 : 1_000)
        return [.send(head + line("Set-Cookie: a=") + end + body)] + (isCut ? [.close] : [])
    }

    @Test("B14 a transfer sends nothing that the standards forbid, whatever a program or a server put in")
    func transfers() async throws {
        let (text, answers) = (HostileText(seed: 7), HostileText(seed: 8))
        let origin = try ScriptedOrigin { _ in Self.response(answers) }
        var session = TransferSessionConfiguration(identifier: "s")
        session.usesCookies = true
        let fixture = try await ServiceFixture(session: session)
        var count = 0
        for _ in 0..<100 {
            var request = TransferRequest(download: origin.url + "/" + String(fieldBytes: text.bytes()))
            let name = text.number(below: 3) == 0 ? String(fieldBytes: text.bytes()) : "X-Own"
            request.headers[name] = String(fieldBytes: text.bytes())
            if (try? await fixture.add(request)) != nil { count += 1 }
        }
        await fixture.log.waitForEvents(count)
        #expect(origin.faults == [])
        #expect(count > 20 && origin.requests.count >= count)
    }
}
