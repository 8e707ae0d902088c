import EideticCore
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import Glibc
import EideticLifecycle
import Synchronization
import Testing

/// A supervised process, with its freezer and its page, without a supervisor.
private final class BareSupervision {
    let freezer: any Freezer
    let page: SharedPageFile
    let handle: ProcessHandle
    private let socket: PacketSocket
    private let mark = "storm-\(UInt32.random(in: 0...UInt32.max))"

    init(_ kind: FreezerKind, arguments: [String], directory: TemporaryDirectory) throws {
        var program = ProgramDescription(executable: Daemon.probe)
        program.arguments = ["supervised"] + arguments
        program.environment = ["EIDETIC_SUPERVISOR=3", "\(SignalFreezer.markName)=\(mark)"]
        let (own, inherited) = try PacketSocket.makePair()
        var places = ProgramLaunch.Places()
        places.socket = inherited.rawValue
        (handle, freezer) = try ProcessTree.start(program, kind, mark: mark, at: places)
        socket = own
        let token = [UInt8](repeating: 1, count: 16)
        page = try SharedPageFile.create(at: directory.path(of: "page"), generation: 1, token: token)
        let welcome = SupervisorMessage.welcome(Welcome(generation: 1, token: token))
        _ = try socket.send(WireWriter.encode(welcome), descriptors: [page.descriptor])
        try page.setPhase(.background, deadline: nil)
    }

    deinit { end(handle, in: freezer) }

    /// Reads what the application reports, so that its queue does not fill up.
    func drain() throws { while case .packet = try socket.receive() {} }
}

@Suite("Suspension of a busy application", .serialized, .timeLimit(.minutes(60)))
struct StormTests {
    @Test("B05 an application is never frozen inside a task", arguments: ControlGroups.kinds)
    func verification(kind: FreezerKind) async throws {
        print("freezer: \(kind.rawValue)")
        let directory = try TemporaryDirectory()
        let flags = try directory.write([UInt8](repeating: 0, count: 4_096), to: "flags")
        let storm = try BareSupervision(kind, arguments: ["--flags", flags], directory: directory)
        let marks = try Marks(path: flags)
        try await eventually("a task is open") { storm.page.openTasks != 0 }
        var (committed, aborted, inside) = (0, 0, 0)
        let enough = Torture.repetitions(60, full: 100_000)
        // The check is worth something only if tasks did begin in between: it goes on until one did.
        while committed < enough || (aborted == 0 && committed < 100 * enough) {
            // At any time: the verification alone decides.
            var outcome = FreezeAttempt.begin(storm.freezer, page: storm.page)
            while outcome == .pending { outcome = FreezeAttempt.resume(storm.freezer, page: storm.page) }
            if outcome == .verified {
                committed += 1
                if marks.isAnySet { inside += 1 }
            } else {
                aborted += 1
            }
            storm.freezer.thaw()
            try storm.drain()
            // The application shall run between two attempts, also on a busy processor.
            sched_yield()
        }
        print("suspensions \(committed), aborted \(aborted), inside a task \(inside)")
        #expect(inside == 0)
        #expect(aborted > 0)
    }

    @Test("a thread inside a task is seen by the marks, and aborts the freeze")
    func markedTask() throws {
        let directory = try TemporaryDirectory()
        let flags = try directory.write([UInt8](repeating: 0, count: 4_096), to: "flags")
        let storm = try BareSupervision(.signals, arguments: ["--flags", flags], directory: directory)
        let marks = try Marks(path: flags)
        // A freeze at any time finds a mark only together with an open task.
        var marked = 0
        while marked < 5 {
            var outcome = FreezeAttempt.begin(storm.freezer, page: storm.page)
            while outcome == .pending { outcome = FreezeAttempt.resume(storm.freezer, page: storm.page) }
            if marks.isAnySet {
                marked += 1
                #expect(outcome != .verified)
            }
            storm.freezer.thaw()
            try storm.drain()
        }
    }
}

/// The marks of the storm's threads.
private final class Marks {
    private let memory: UnsafeMutableRawPointer

    init(path: String) throws {
        let file = try FileSystem().open(path, flags: O_RDWR)
        let address = mmap(nil, 4_096, PROT_READ | PROT_WRITE, MAP_SHARED, file.rawValue, 0)
        memory = try #require(address)
    }

    deinit { munmap(memory, 4_096) }

    var isAnySet: Bool {
        (0..<4).contains { number in
            (memory + number * 64).assumingMemoryBound(to: Atomic<UInt64>.self).pointee
                .load(ordering: .sequentiallyConsistent) != 0
        }
    }
}
