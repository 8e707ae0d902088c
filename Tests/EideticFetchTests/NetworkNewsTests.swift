import EideticCore
import EideticFetch
import EideticTestSupport
import Glibc
import Testing

@Suite("News about the network")
struct NetworkNewsTests {
    /// What happened in a network namespace of its own.
    private enum Report: Sendable { case noNamespace(String), heard(before: Bool, after: Bool) }

    private static func listen() -> Report {
        guard let socket = RouteSocket() else { return .noNamespace("no route socket") }
        let before = socket.readArrival()
        guard NetworkNamespace.addAddress([198, 51, 100, 1]) else { return .noNamespace(SystemError.message(errno)) }
        return .heard(before: before, after: socket.readArrival())
    }

    @Test("L07 the kernel tells when an address comes, and nothing before")
    func arrival() async {
        switch await NetworkNamespace.run(Self.listen) {
        case nil: withKnownIssue("no network namespace here") { Issue.record() }
        case .noNamespace(let reason): withKnownIssue("no network namespace here: \(reason)") { Issue.record() }
        case .heard(let before, let after):
            #expect(!before)
            #expect(after)
        }
    }
}
