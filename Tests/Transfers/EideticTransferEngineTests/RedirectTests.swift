import EideticCore
import EideticTestSupport
import EideticTransfer
@testable import EideticTransferEngine
import Testing

@Suite("redirects that a transfer does not follow", .timeLimit(.minutes(1)))
struct RedirectTests {
    /// Downloads `/a`, which redirects to `/b` of the same origin, which redirects to another one.
    private func download(
        _ redirects: TransferRequest.Redirects,
        restarts: Bool = false
    ) async throws -> (status: Int, location: String?, path: String, bytes: [UInt8]) {
        let gate = Gate(), arrived = Gate()
        let other = try ScriptedOrigin { _ in [.response(body: [3])] }
        let origin = try ScriptedOrigin { request in
            let target = request.path == "/a" ? "/b" : other.url + "/c"
            let body: [UInt8] = [request.path == "/a" ? 1 : 2]
            let answer = ScriptedOrigin.Step.response(302, headers: ["Location": target], body: body)
            return restarts && request.connection == 1 ? [.open(arrived), .wait(gate)] : [answer]
        }
        var fixture = try await ServiceFixture()
        var request = TransferRequest(download: origin.url + "/a")
        request.redirects = redirects
        _ = try await fixture.add(request)
        if restarts {
            await arrived.wait()
            let directory = fixture.directory
            await fixture.close()
            fixture = try await ServiceFixture(directory: directory)
        }
        let (response, bytes) = try fixture.finished(await fixture.log.waitForEvents(1)[0])
        let path = response.effectiveURL.split(separator: "/").last.map(String.init) ?? ""
        return (response.status, response.headers["Location"], path, bytes)
    }

    @Test("B14 all redirects are followed, those within the origin, or none; the response of another one is the result")
    func policies() async throws {
        let all = try await download(.all)
        #expect(all.status == 200 && all.path == "c" && all.bytes == [3])
        let within = try await download(.sameOrigin)
        #expect(within.status == 302 && within.path == "b" && within.bytes == [2])
        #expect(within.location?.hasSuffix("/c") == true)
        let none = try await download(.none)
        #expect(none.status == 302 && none.path == "a" && none.bytes == [1] && none.location == "/b")
    }

    @Test("B14 the redirects that are followed outlive the transfer process")
    func restart() async throws {
        let none = try await download(.none, restarts: true)
        #expect(none.status == 302 && none.path == "a" && none.location == "/b")
    }

    @Test("B14 a transfer in the journal of an earlier build follows all redirects")
    func formerJournal() throws {
        var request = TransferRequest(download: "https://a.test/b")
        request.redirects = .none
        let added = AddedTransfer(
            number: 7,
            session: 1,
            created: Timestamp(nanoseconds: 5),
            createdUptime: .seconds(1),
            boot: 2,
            request: request,
            uploadLength: 0,
            hasSecret: false
        )
        var writer = WireWriter()
        writer.append(5 as UInt8)
        AddedTransfer.formerLayout.write(added, to: &writer)
        let former = try WireReader.decode(JournalRecord.self, from: writer.bytes)
        guard case .added(let read) = former else { throw EideticError(.corrupt, message: "another record") }
        #expect(read.number == 7 && read.request.url == request.url && read.request.redirects == .all)
        let current = try WireReader.decode(JournalRecord.self, from: WireWriter.encode(JournalRecord.added(added)))
        guard case .added(let read) = current else { throw EideticError(.corrupt, message: "another record") }
        #expect(read.request.redirects == .none)
    }
}
