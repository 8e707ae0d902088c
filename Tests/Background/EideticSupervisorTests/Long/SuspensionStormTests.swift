import EideticCore
import EideticProbeWords
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import Glibc
import EideticLifecycle
import Testing

/// Suspensions by a real supervisor of applications that use the library.
@Suite("Suspension by the supervisor at any moment", .serialized, .timeLimit(.minutes(120)))
struct SuspensionStormTests {
    /// Stays of less than 5 s in the foreground do not refill the budget, which would be used up after some 75,000.
    private static let options = [
        "--limit", "idle=0", "--limit", "budget=86400000", "--message-rate", "100000",
    ]
    /// The number of suspensions; `EIDETIC_SUSPENSIONS` replaces it where the full one takes too long.
    private static func suspensions(_ short: Int) -> Int {
        Torture.environmentCount("EIDETIC_SUSPENSIONS") ?? Torture.repetitions(short, full: 100_000)
    }

    @Test("B05 no application is suspended inside a task that it has opened", arguments: ControlGroups.kinds)
    func storm(kind: FreezerKind) async throws {
        let daemon = try await Daemon(kind, Self.options)
        // Several at once: each waits for messages most of the time.
        var cycles: [SuspensionCycle] = []
        for number in 0..<4 { cycles.append(try await SuspensionCycle("app\(number)", ["--storm"], of: daemon)) }
        for cycle in cycles { try cycle.requestSuspension() }
        var (suspended, inside, running) = (0, 0, 0)
        let changes = ChangeReports(of: daemon), total = Self.suspensions(40)
        while suspended < total {
            try changes.wait { cycles.contains(where: \.isSuspended) }
            for cycle in cycles where cycle.isSuspended {
                suspended += 1
                if cycle.isInsideTask { inside += 1 }
                if !cycle.isStopped { running += 1 }
                // A run that is broken off has shown something too.
                if suspended % 10_000 == 0 { print("\(suspended): inside a task \(inside), not stopped \(running)") }
                try cycle.resume()
                try cycle.requestSuspension()
            }
        }
        print("suspensions \(suspended), inside a task \(inside), not stopped \(running)")
        #expect(inside == 0 && running == 0)
        await daemon.finish()
    }

    @Test(
        "B15 one of two processes that write into a cache is frozen: no lock is left, nobody waits, nothing is lost",
        arguments: ControlGroups.kinds
    )
    func sharedCache(kind: FreezerKind) async throws {
        let daemon = try await Daemon(kind, Self.options)
        let directory = daemon.directory.path(of: "cache")
        let (options, program) = (["--cache", directory, "--name"], "background")
        let reports = try StoreReports(at: daemon.directory.path(of: "stores"))
        let running = try daemon.launchApplication(
            "running",
            options + ["running", "--stores", reports.path],
            program: program
        )
        let frozen = try await SuspensionCycle("frozen", options + ["frozen"], program: program, of: daemon)
        var (locked, notStopped) = (0, 0)
        let total = Self.suspensions(30)
        for number in 1...total {
            try frozen.suspend()
            if !frozen.isStopped { notStopped += 1 }
            if !frozen.heldLocks.isEmpty { locked += 1 }
            if number % 10_000 == 0 { print("\(number): locks left \(locked), not stopped \(notStopped)") }
            try reports.waitForNext()
            try frozen.resume()
        }
        let stores = (running[ProbeWord.storeCount], frozen.words[ProbeWord.storeCount])
        print("suspensions \(total), stores \(stores), locks left \(locked), not stopped \(notStopped)")
        #expect(locked == 0 && notStopped == 0)
        await daemon.finish()
        #expect(!daemon.output.contains("refused"))
        let reading = CacheReading(directory: directory)
        try await reading.verify(running, of: "running")
        try await reading.verify(frozen.words, of: "frozen")
    }

    @Test("B05 tasks that are opened and ended leave nothing behind in a supervised application")
    func pairs() async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.options)
        let count = Torture.repetitions(100_000, full: 1_000_000)
        _ = try daemon.launchApplication("app", ["--pairs", "\(count)"])
        await daemon.expectOutput("kilobytes ")
        let line = daemon.output.split(separator: "\n").last { $0.hasPrefix("kilobytes ") } ?? ""
        let text = daemon.output.split(separator: "\n").last { $0.hasPrefix("pairs \(count) descriptors ") } ?? ""
        // Not one for each pair; what other threads have open at the moment counts too.
        #expect((text.split(separator: " ").last.flatMap { Int($0) } ?? .max) < 10, "\(daemon.output)")
        #expect((Int(line.dropFirst("kilobytes ".count)) ?? .max) < 1_000, "\(line)")
        print("pairs \(count): \(line)")
        try await daemon.suspend("app")
        await daemon.finish()
    }
}

/// The FIFO into which a process writes a byte for each entry that it has stored.
private final class StoreReports {
    let path: String
    private let file: FileDescriptor

    init(at path: String) throws {
        guard mkfifo(path, 0o600) == 0 else { throw SystemError(.open, errorNumber: errno, path: path) }
        self.path = path
        // Open for writing too, so that the process need not wait for this one.
        file = try FileSystem().open(path, flags: O_RDWR | O_NONBLOCK)
    }

    /// Waits until the process has stored another entry; throws `ETIMEDOUT` after a minute.
    func waitForNext() throws {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        while read(file.rawValue, &bytes, bytes.count) > 0 {}
        var polled = pollfd(fd: file.rawValue, events: Int16(POLLIN), revents: 0)
        guard poll(&polled, 1, 60_000) == 1 else { throw SystemError(.read, errorNumber: ETIMEDOUT, path: path) }
    }
}
