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
}
