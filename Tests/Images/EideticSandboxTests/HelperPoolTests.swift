import CTestSupport
import EideticCodecs
import EideticCore
import EideticSandbox
import EideticTestSupport
import Glibc
import Testing

@Suite("the pool of decoding processes", .timeLimit(.minutes(2)))
struct HelperPoolTests {
    @Test("F07 a process decodes many images, and is replaced after its number of images")
    func processesAreRecycled() throws {
        let pool = Programs.pool { ($0.imageLimit, $0.idleLimit) = (3, 1) }
        let bytes = try Samples.png(10, 10)
        _ = try pool.image(bytes)
        let first = try #require(pool.idleIdentifiers.first)
        _ = try pool.image(bytes)
        #expect(pool.idleIdentifiers == [first])
        _ = try pool.image(bytes)
        #expect(!pool.idleIdentifiers.contains(first))
        _ = try pool.image(bytes)
        #expect(pool.startedCount >= 2)
    }

    @Test("F07 an idle process that was killed is replaced without an error")
    func killedProcessesAreReplaced() throws {
        let pool = Programs.pool { $0.idleLimit = 1 }, bytes = try Samples.png(10, 10)
        _ = try pool.image(bytes)
        Programs.kill(try #require(pool.idleIdentifiers.first))
        for _ in 0..<3 { #expect(try pool.image(bytes).size.width == 10) }
    }

    private static func status(of identifier: Int32) -> String {
        let bytes = (try? FileSystem().contents(of: "/proc/\(identifier)/status")) ?? []
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("F07 a decode that is cancelled ends at once, and its process serves the next image or ends")
    func cancellationIsImmediate() async throws {
        let pool = Programs.pool(attack: "loop") { $0.idleLimit = 1 }, context = JobContext()
        let load = Task.detached {
            Programs.error { () throws(EideticError) in try pool.image([0x89, 0x50], context: context) }
        }
        try await eventually("number of slow images", is: 1) { pool.slowCount }
        context.cancel()
        #expect(await load.value?.code == .cancelled)
        #expect(pool.slowCount == 0)
    }

    @Test("F07 images that hang keep no other one waiting")
    func slowImagesLetOthersPass() async throws {
        let threads = WorkPool(name: "slow", maximumThreadCount: 1), hanging = Programs.pool(attack: "loop")
        let contexts = (0..<6).map { _ in JobContext() }
        let loads = contexts.map { context in
            Task.detached {
                try? await threads.run(in: context) { context throws(EideticError) in
                    _ = try hanging.decode(
                        [0x89, 0x50],
                        options: DecodeOptions(),
                        limits: DecodeLimits(),
                        context: context,
                        pausing: threads
                    )
                }
            }
        }
        try await eventually("number of slow images", is: contexts.count) { hanging.slowCount }
        // All six run on a pool of one thread, and a seventh job runs beside them.
        #expect(try await threads.run { _ in true })
        for context in contexts { context.cancel() }
        for load in loads { await load.value }
        #expect(hanging.slowCount == 0)
        #expect(try await threads.run { _ in true })
    }

    @Test("F07 beyond the largest number of slow images the others wait")
    func slowImagesAreLimited() async throws {
        let hanging = Programs.pool(attack: "loop") { $0.slowLimit = 2 }
        let threads = WorkPool(name: "waiting", maximumThreadCount: 3), contexts = (0..<3).map { _ in JobContext() }
        let loads = contexts.map { context in
            Task.detached {
                _ = try? await threads.run(in: context) { context throws(EideticError) in
                    try hanging.image([0x89], context: context).size
                }
            }
        }
        try await eventually("number of slow images", is: 2) { hanging.slowCount }
        try await eventually("number of processes", is: 3) { hanging.startedCount }
        #expect(hanging.slowCount == 2)
        for context in contexts { context.cancel() }
        for load in loads { _ = await load.value }
    }

    @Test("F07 a process has a filter of system calls, and no capabilities")
    func processesAreRestricted() throws {
        let pool = Programs.pool { $0.idleLimit = 1 }
        _ = try pool.image(try Samples.png(4, 4))
        let identifier = try #require(pool.idleIdentifiers.first)
        let status = Self.status(of: identifier)
        #expect(status.contains("Seccomp:\t2") && status.contains("NoNewPrivs:\t1"))
        #expect(status.contains("CapEff:\t0000000000000000") && status.contains("CapBnd:\t0000000000000000"))
    }

    @Test("F07 a process that has waited for an image long enough ends, and the next image starts another one")
    func idleProcessesEnd() async throws {
        let pool = Programs.pool { ($0.idleLimit, $0.idleTime) = (1, .milliseconds(100)) }
        let bytes = try Samples.png(9, 9)
        _ = try pool.image(bytes)
        let identifier = try #require(pool.idleIdentifiers.first)
        try await eventually("idle processes", is: []) { pool.idleIdentifiers }
        // Reaped as well: nothing is left of it.
        try await eventually("status of the process", is: "") { Self.status(of: identifier) }
        #expect(try pool.image(bytes).size.width == 9 && pool.startedCount == 2)
    }

    @Test("F07 a process is prepared once, while the bytes of the first image are fetched")
    func firstProcessIsPrepared() async throws {
        let pool = Programs.pool { $0.idleLimit = 1 }
        for _ in 0..<3 { pool.prepare() }
        try await eventually("number of idle processes", is: 1) { pool.idleIdentifiers.count }
        _ = try pool.image(try Samples.png(9, 9))
        pool.prepare()
        #expect(pool.startedCount == 1)
    }

    @Test("F07 a process loads the library of a format when the first image of it comes", .needsCorpus)
    func librariesAreLoadedOnDemand() throws {
        let pool = Programs.pool { $0.idleLimit = 1 }, png = try Samples.png(9, 9)
        let avif = try Corpus.bytes(of: #require(try Corpus.files(withExtensions: ["avif"]).first))
        func libraries() throws -> String {
            let bytes = try FileSystem().contents(of: "/proc/\(#require(pool.idleIdentifiers.first))/maps")
            return String(decoding: bytes, as: UTF8.self)
        }
        _ = try pool.image(png)
        #expect(try !libraries().contains("libavif") && !libraries().contains("libheif"))
        _ = try pool.image(avif)
        // The process with the library remains.
        #expect(try libraries().contains("libavif") && pool.startedCount == 2)
        for bytes in [png, avif, png] { _ = try pool.image(bytes) }
        #expect(pool.startedCount == 2)
    }

    @Test("F07 the number of processes that decode at a time is limited for all callers, slow ones not counted")
    func usesAreLimited() async throws {
        let pool = Programs.pool { ($0.useLimit, $0.idleLimit, $0.slowTime) = (2, 2, .seconds(60)) }
        let bytes = try Samples.jpeg(300, 200)
        await withTaskGroup(of: Void.self) { group in
            let threads = WorkPool(name: "many", maximumThreadCount: 40)
            for _ in 0..<40 {
                group.addTask {
                    let width = try? await threads.run { context throws(EideticError) in
                        try pool.image(bytes, limits: .standard, context: context).size.width
                    }
                    #expect(width == 300)
                }
            }
        }
        #expect(pool.startedCount <= 2)
    }

    @Test("F07 a copy of a process, by fork, uses none of its decoding processes, and ends none")
    func forkedProcesses() throws {
        let pool = Programs.pool { $0.idleLimit = 1 }, bytes = try Samples.png(9, 9)
        _ = try pool.image(bytes)
        let identifiers = pool.idleIdentifiers
        let child = eidetic_test_fork()
        if child == 0 {
            let error = Programs.error { () throws(EideticError) in try pool.image(bytes) }
            // What ends a process for its owner.
            pool.restart()
            _exit(error?.code == .sandboxUnavailable ? 0 : 1)
        }
        var status: Int32 = -1
        #expect(waitpid(child, &status, 0) == child && status == 0)
        #expect(try pool.image(bytes).size.width == 9)
        #expect(pool.idleIdentifiers == identifiers && pool.startedCount == 1)
    }

    @Test(
        "F07 a copy of a process, by fork, uses no process that was started before the first image",
        .timeLimit(.minutes(1))
    )
    func forkedAfterPreparation() async throws {
        let pool = Programs.pool { $0.idleLimit = 1 }, bytes = try Samples.png(9, 9)
        pool.prepare()
        try await eventually("number of idle processes", is: 1) { pool.idleIdentifiers.count }
        let child = eidetic_test_fork()
        if child == 0 {
            let error = Programs.error { () throws(EideticError) in try pool.image(bytes) }
            _exit(error?.code == .sandboxUnavailable ? 0 : 1)
        }
        var status: Int32 = -1
        #expect(waitpid(child, &status, 0) == child && status == 0)
        #expect(try pool.image(bytes).size.width == 9 && pool.startedCount == 1)
    }

    @Test("F07 a process that is of no use before its first image is not replaced without end")
    func uselessProcessesAreNotReplaced() async throws {
        let pool = Programs.pool(attack: "speaksFirst") { $0.idleLimit = 2 }
        pool.warmUp()
        try await eventually("two processes are started", value: { pool.startedCount }, until: { $0 >= 2 })
        for _ in 0..<20 { #expect(Programs.error { () throws(EideticError) in try pool.image([0x89]) } != nil) }
        // At most one for each image, and one that replaces it; without end there would be some more for each.
        #expect(pool.startedCount <= 2 + 2 * 20)
    }

    @Test(
        "F07 a program without the decoder of a format is not used for it: the next one is, or the error says so",
        .needsCorpus
    )
    func missingDecoders() throws {
        let directory = try TemporaryDirectory(named: "program"),
            real = HelperProgram(path: Programs.path(of: "eidetic-decode"))
        let script = "#!/bin/sh\nexec \(real.path) \(DecodeHelper.argument)\n"
        let other = HelperProgram(path: try directory.write(Array(script.utf8), to: "eidetic-decode"))
        chmod(other.path, 0o755)
        let avif = try Corpus.bytes(of: #require(try Corpus.files(withExtensions: ["avif"]).first))
        let pool = Programs.pool { $0.programs = { [other] } }
        for _ in 0..<2 {
            let error = Programs.error { () throws(EideticError) in try pool.image(avif) }
            #expect(error?.code == .sandboxUnavailable && error?.message.contains("avif") == true, "\(error as Any)")
            #expect(try pool.image(Samples.png(9, 9)).size.width == 9)
        }
        #expect(pool.startedCount == 1)
        let both = Programs.pool { $0.programs = { [other, real] } }
        #expect(try both.image(avif).size.width > 0)
    }

    /// Writes a program that counts its starts, and then runs a line of shell.
    private static func program(
        in directory: TemporaryDirectory,
        then line: String
    ) throws -> (program: HelperProgram, startCount: () -> Int) {
        let counter = try directory.write([], to: "starts")
        let script = "#!/bin/sh\necho >>\(counter)\n\(line)\nexec \(Programs.path(of: "eidetic-decode")) \"$@\"\n"
        let path = try directory.write(Array(script.utf8), to: "eidetic-decode")
        chmod(path, 0o755)
        return (HelperProgram(path: path), { (try? FileSystem().contents(of: counter).count) ?? 0 })
    }

    @Test("F07 a process that dies while it starts is started again")
    func dyingProcessesAreStartedAgain() throws {
        let directory = try TemporaryDirectory(named: "dying"), bytes = try Samples.png(9, 9)
        let line = "[ $(wc -l <\(directory.path(of: "starts"))) -lt 3 ] && kill -9 $$"
        let (program, startCount) = try Self.program(in: directory, then: line)
        let pool = Programs.pool { ($0.idleLimit, $0.programs) = (1, { [program] }) }
        #expect(try pool.image(bytes).size.width == 9)
        #expect(startCount() == 3 && pool.startedCount == 1)
    }

    @Test("F07 processes that die while they start fail the image, and the next image starts them again")
    func dyingProcessesAreNotRemembered() throws {
        let directory = try TemporaryDirectory(named: "dying"), bytes = try Samples.png(9, 9)
        let (program, startCount) = try Self.program(in: directory, then: "kill -9 $$")
        let pool = Programs.pool { ($0.startLimit, $0.programs) = (2, { [program] }) }
        for count in 1...3 {
            let error = Programs.error { () throws(EideticError) in try pool.image(bytes) }
            #expect(error?.code == .sandboxUnavailable && error?.message.contains("signal 9") == true)
            #expect(startCount() == 2 * count && !pool.isMissing(for: bytes))
        }
    }

    @Test("F07 a program that cannot decode on this machine is remembered, and not started for each image")
    func unusableProgramsAreRemembered() throws {
        let directory = try TemporaryDirectory(named: "unusable"), bytes = try Samples.png(9, 9)
        let (program, startCount) = try Self.program(in: directory, then: "exit 3")
        let pool = Programs.pool { ($0.retryTime, $0.programs) = (.seconds(3_600), { [program] }) }
        for _ in 1...3 {
            let error = Programs.error { () throws(EideticError) in try pool.image(bytes) }
            #expect(error?.code == .sandboxUnavailable && error?.message.contains(program.path) == true)
            #expect(startCount() == 1 && pool.isMissing(for: bytes))
        }
    }

    @Test("F07 without eidetic-decode the running program is started again, and decodes before its main")
    func ownProgramDecodes() throws {
        let program = HelperProgram(path: HelperLocation.ownProgram), bytes = try Samples.jpeg(40, 30)
        let pool = Programs.pool { ($0.idleLimit, $0.programs) = (1, { [program] }) }
        #expect(HelperLocation.programs.last == program)
        #expect(try pool.image(bytes).bytes == ImageDecoder.decode(bytes).bytes)
        let identifier = try #require(pool.idleIdentifiers.first), files = FileSystem()
        #expect(try files.linkTarget(of: "/proc/\(identifier)/exe") == files.linkTarget(of: "/proc/self/exe"))
        let status = Self.status(of: identifier)
        #expect(status.contains("Seccomp:\t2") && status.contains("NoNewPrivs:\t1") && status.contains("Threads:\t"))
        #expect(try pool.description().restrictions == Programs.pool().description().restrictions)
    }

    @Test("F07 a program that is started with the argument, but not by an application, runs as without it")
    func argumentAlone() async throws {
        let path = Programs.path(of: "eidetic-decode")
        let result = try await Subprocess.run(path, arguments: [DecodeHelper.argument])
        #expect(result.status == .exited(64) && result.errorText.contains("which start it"))
    }

    @Test(
        "F07 without descriptors or room for shared memory the sandbox is unavailable, and no process is lost or ended"
    )
    func resourcesAreMissing() async throws {
        await #expect(processExitsWith: .success) {
            let bytes = try Samples.jpeg(1_300, 1_000)
            var limit = rlimit(rlim_cur: 200, rlim_max: 200)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            var numbers: [Int32] = []
            while true {
                let number = dup(0)
                if number < 0 { break }
                numbers.append(number)
            }
            var codes: Set<EideticError.Code?> = []
            for _ in 0..<12 {
                let pool = Programs.pool { $0.idleLimit = 1 }
                codes.insert(Programs.error { () throws(EideticError) in try pool.image(bytes) }?.code)
                pool.restart()
                numbers.popLast().map { _ = close($0) }
            }
            #expect(codes == [nil, .sandboxUnavailable])
            for number in numbers { close(number) }
            var size = rlimit(rlim_cur: 1 << 20, rlim_max: 1 << 20)
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &size)
            let error = Programs.error { () throws(EideticError) in try Programs.pool().image(bytes) }
            #expect(error?.code == .sandboxUnavailable && error?.message.contains("shared memory") == true)
        }
    }
}

@Suite("the program of decoding processes", .timeLimit(.minutes(2)))
struct HelperLocationTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory(named: "location") }

    @Test("F07 a program is used unless another user can replace it")
    func replaceablePrograms() throws {
        let program = try directory.write([1], to: "eidetic-decode"), other = directory.path(of: "other")
        chmod(program, 0o755)
        symlink(program, other)
        let resolved = try #require(HelperLocation.trusted(program))
        #expect(HelperLocation.trusted(other) == resolved && resolved.hasSuffix("/eidetic-decode"))
        chmod(directory.path, 0o777)
        #expect(HelperLocation.trusted(program) == nil)
        // As `/tmp`: others can make a link with a name that is not there yet.
        chmod(directory.path, 0o1777)
        #expect(HelperLocation.trusted(program) == nil)
        chmod(directory.path, 0o755)
        chmod(program, 0o757)
        #expect(HelperLocation.trusted(program) == nil)
        chmod(program, 0o755)
        #expect(HelperLocation.trusted(program) == resolved)
        guard geteuid() == 0 else { return }
        for (path, mode) in [(program, 0o775), (directory.path, 0o775)] as [(String, mode_t)] {
            chown(path, 0, 65_534)
            chmod(path, mode)
            #expect(HelperLocation.trusted(program) == nil)
            chown(path, 0, 0)
            #expect(HelperLocation.trusted(program) == resolved)
        }
        chown(program, 65_534, 65_534)
        #expect(HelperLocation.trusted(program) == nil && HelperLocation.trusted(other) == nil)
        chown(program, 0, 0)
        lchown(other, 65_534, 65_534)
        #expect(HelperLocation.trusted(other) == nil)
    }

    @Test("F07 neither PATH nor the current directory is searched for the program")
    func searchPath() async throws {
        let program = try directory.write(Array("#!/bin/sh\n".utf8), to: "eidetic-decode"), path = directory.path
        chmod(program, 0o755)
        await #expect(processExitsWith: .success) { [path = path as String] in
            setenv("PATH", path, 1)
            chdir(path)
            #expect(!HelperLocation.programs.isEmpty)
            #expect(HelperLocation.programs.allSatisfy { !$0.path.contains(path) && $0.path.hasPrefix("/") })
        }
    }
}
