import EideticCore
import EideticTestSupport
import Glibc
import Testing

@Suite("Groups of background work")
struct BackgroundWorkGroupTests {
    private let environment = RecordingEnvironment()
    private var group: BackgroundWorkGroup { BackgroundWorkGroup(named: "work", provider: environment) }

    @Test("C17 one background task from the first piece to the last, and another one for the next burst")
    func burst() throws {
        let group = group, first = try group.begin(), second = try group.begin()
        #expect(environment.log == ["begin 1"])
        first.end()
        first.end()
        #expect(environment.openTasks == 1)
        second.end()
        #expect(environment.log == ["begin 1", "end 1"])
        #expect(try group.run { () throws(EideticError) in environment.openTasks } == 1)
        #expect(environment.log == ["begin 1", "end 1", "begin 2", "end 2"])
    }

    @Test("C17 at expiry the handlers of pending pieces are called once, and no piece starts until all have ended")
    func expiry() throws {
        let group = group, calls = Guarded<[String]>([])
        let ended = try group.begin { calls.withLock { $0.append("ended") } }
        let pending = try group.begin { calls.withLock { $0.append("pending") } }
        ended.end()
        environment.expire()
        environment.expire()
        #expect(calls.withLock { $0 } == ["pending"])
        #expect(throws: EideticError.self) { try group.begin() }
        #expect(throws: EideticError.self) { try pending.waitUntilAdmitted() }
        pending.end()
        try group.begin().end()
        #expect(environment.log == ["begin 1", "end 1", "begin 2", "end 2"])
    }

    @Test("C17 if the background task is refused, the piece is, and its handler is called")
    func refused() throws {
        environment.exhaust()
        let group = group, calls = Guarded(0)
        let error = #expect(throws: EideticError.self) { try group.begin { calls.withLock { $0 += 1 } } }
        #expect(error?.code == .cancelled)
        #expect(calls.withLock { $0 } == 1)
        environment.renew()
        try group.begin().end()
    }
}

@Suite("Names of error codes")
struct ErrorCodeNameTests {
    @Test(
        "L07 a code is found by the name that another process sends",
        arguments: [(EideticError.Code.invalidURL, "invalidURL"), (.httpStatus, "httpStatus"), (.inUse, "inUse")]
    )
    func names(code: EideticError.Code, name: String) {
        #expect(EideticError.Code(named: name) == code)
        #expect(code.description == name)
        #expect(EideticError.Code(named: name + " ") == nil)
    }

    @Test("L07 the page of errors names each code once, with its kind") func page() throws {
        let root = #filePath.split(separator: "/").dropLast(4).map { "/" + $0 }.joined()
        let page = String(decoding: try FileSystem().contents(of: root + "/docs/errors.md"), as: UTF8.self)
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { row in
            row.split(separator: "|").prefix(2).map { $0.filter { $0 != "`" && $0 != " " } }
        }
        #expect(rows.map { $0[1] }.sorted() == EideticError.Code.all.map(\.description).sorted())
        for row in rows {
            let code = try #require(EideticError.Code(named: row[1]))
            #expect("\(EideticError(code, message: "").kind)" == row[0], "\(code)")
        }
    }
}

@Suite("SystemJournal")
struct JournalTests {
    @Test("L26 an entry for the journal is one datagram with priority, part and message, also of several lines")
    func sends() throws {
        let directory = try TemporaryDirectory(named: "journal"), path = directory.path(of: "socket")
        let number = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(number) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(bound == 0)
        SystemJournal.send(level: .warning, category: .store, message: "one\ntwo", to: path)
        var buffer = [UInt8](repeating: 0, count: 1_000)
        let count = recv(number, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        let head = "PRIORITY=4\nSYSLOG_IDENTIFIER=eidetic\nEIDETIC_PART=store\nMESSAGE\n"
        let length: [UInt8] = [7, 0, 0, 0, 0, 0, 0, 0]
        let expected = Array(head.utf8) + length + Array("one\ntwo\n".utf8)
        #expect(Array(buffer.prefix(max(0, count))) == expected)
    }
}
