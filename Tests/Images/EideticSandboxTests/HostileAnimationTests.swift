import EideticCodecs
import EideticCore
import EideticSandbox
import EideticTestSupport
import Glibc
import Testing

@Suite("animations of processes that are taken over", .timeLimit(.minutes(2)))
struct HostileAnimationTests {
    private static func animation(
        attack: String,
        pool: HelperPool? = nil,
        duration: Duration = .milliseconds(400)
    ) throws(EideticError) -> SandboxedAnimation? {
        var limits = DecodeLimits()
        limits.duration = duration
        return try SandboxedAnimation(
            try Samples.gif(),
            isComplete: true,
            options: DecodeOptions(),
            limits: limits,
            pool: pool ?? Programs.pool(attack: attack),
            context: nil
        )
    }

    private static func error(of animation: SandboxedAnimation) -> EideticError? {
        Programs.error { () throws(EideticError) in try animation.frame(at: 1, context: JobContext()) }
    }

    @Test("F07 an animation whose process crashes twice for a frame ends with a typed error", arguments: ["frameCrash"])
    func crashes(attack: String) throws {
        let pool = Programs.pool(attack: attack)
        let animation = try #require(try Self.animation(attack: attack, pool: pool))
        let error = try #require(Self.error(of: animation))
        #expect(error.code == .decoderFailed && error.message.contains("signal"), "\(error)")
        // One process, and the one that has gone on.
        #expect(pool.keepingIdentifiers.isEmpty)
    }

    @Test("F07 an animation whose frame does not end fails at the time limit")
    func deadlines() throws {
        let animation = try #require(try Self.animation(attack: "frameLoop"))
        let error = Self.error(of: animation)
        #expect(error?.code == .limitExceeded && error?.message.contains("0.4 seconds") == true, "\(error as Any)")
    }

    @Test(
        "F07 sizes, frames and replies of an animation that no file leads to are refused",
        arguments: [
            "animationOversized", "animationFrames", "animationReply", "animationDurations",
        ]
    )
    func lies(attack: String) throws {
        let error = Programs.error { () throws(EideticError) in try Self.animation(attack: attack)?.info.frameCount }
        #expect(error?.code == .decoderFailed, "\(error as Any)")
    }

    @Test("F07 bytes that are never parsed to their end leave the frames before them, in another process")
    func endlessBytes() throws {
        let bytes = try Samples.gif()
        var limits = DecodeLimits()
        limits.duration = .milliseconds(300)
        let animation = try #require(
            try SandboxedAnimation(
                Array(bytes.prefix(40)),
                isComplete: false,
                options: DecodeOptions(),
                limits: limits,
                pool: Programs.pool(attack: "longLoop"),
                context: nil
            )
        )
        let error = Programs.error { () throws(EideticError) in
            try animation.append(Array(bytes.dropFirst(40)), isComplete: true)
        }
        #expect(error?.code == .limitExceeded, "\(error as Any)")
        #expect(try animation.frame(at: 1, context: JobContext()).size.width == 8)
    }

    @Test("F07 frames that were announced do not vanish: the process is replaced")
    func vanishingFrames() throws {
        let bytes = try Samples.gif(), pool = Programs.pool(attack: "vanishing")
        let animation = try #require(
            try SandboxedAnimation(
                Array(bytes.prefix(40)),
                isComplete: false,
                options: DecodeOptions(),
                limits: .standard,
                pool: pool,
                context: nil
            )
        )
        #expect(try animation.append(Array(bytes.dropFirst(40)), isComplete: true).frameCount == 3)
        #expect(pool.startedCount >= 2)
    }

    @Test("F07 whether bytes follow, and how long a frame is shown at least, is not the word of the process")
    func ownProperties() throws {
        let animation = try #require(try Self.animation(attack: "incomplete"))
        #expect(animation.info.isComplete)
        #expect(animation.info.durations == [Duration](repeating: .milliseconds(100), count: 3))
    }

    @Test("F07 a preview that announces more memory than there is fails, also after smaller announcements")
    func previewMemory() throws {
        let pool = Programs.pool(attack: "growingMemory"), bytes = try Samples.png(9, 9)
        let preview = SandboxedPreview(options: .init(), limits: .standard, pool: pool, context: JobContext())
        _ = try preview.preview(of: Array(bytes.prefix(60)))
        let error = Programs.error { () throws(EideticError) in try preview.preview(of: bytes) }
        #expect(error?.code == .outOfMemory, "\(error as Any)")
    }

    @Test("F07 an animation that was slow has its process to itself, until ten of its frames were not")
    func probation() throws {
        let pool = Programs.pool(attack: "slowStart") { $0.idleLimit = 1 }
        let animation = try #require(try Self.animation(attack: "", pool: pool, duration: .seconds(30)))
        _ = try animation.frame(at: 0, context: JobContext())
        #expect(pool.aloneCount == 1)
        // Another one gets another process.
        let other = try #require(try Self.animation(attack: "", pool: pool, duration: .seconds(30)))
        #expect(pool.keepingIdentifiers.count == 2)
        for _ in 0..<40 where pool.aloneCount == 1 { _ = try animation.frame(at: 1, context: JobContext()) }
        #expect(pool.aloneCount == 0)
        _ = try other.frame(at: 1, context: JobContext())
    }

    @Test("F07 an animation that keeps its process busy keeps no other one waiting, which go on in another process")
    func slowAnimationsLetOthersPass() async throws {
        let pool = Programs.pool(attack: "secondLoops") { $0.idleLimit = 1 }
        let good = try #require(try Self.animation(attack: "", pool: pool, duration: .seconds(30)))
        let hanging = try #require(try Self.animation(attack: "", pool: pool, duration: .seconds(30)))
        #expect(pool.keepingIdentifiers.count == 1)
        let context = JobContext()
        let frame = Task.detached {
            Programs.error { () throws(EideticError) in try hanging.frame(at: 1, context: context) }
        }
        try await eventually("number of slow images", is: 1) { pool.slowCount }
        let isThere = await Task.detached { (try? good.frame(at: 1, context: JobContext())) != nil }.value
        #expect(isThere && pool.slowCount == 1 && pool.keepingIdentifiers.count == 2)
        context.cancel()
        #expect(await frame.value?.code == .cancelled)
    }

    @Test("F07 an animation that waits for memory keeps no other one waiting, and its wait can be cancelled")
    func memoryWaitsLetOthersPass() async throws {
        let pool = Programs.pool { $0.idleLimit = 1 }, context = JobContext()
        let good = try #require(try Self.animation(attack: "", pool: pool, duration: .seconds(30)))
        let waiting = try #require(try Self.animation(attack: "", pool: pool, duration: .seconds(30)))
        #expect(pool.keepingIdentifiers.count == 1)
        let reserved = try ["a", "b"].map { try pool.turns.reserveBlocking(.max, origin: $0, context: nil) }
        let frame = Task.detached {
            Programs.error { () throws(EideticError) in try waiting.frame(at: 1, context: context) }
        }
        try await eventually("number of waits for memory", is: 1) { pool.turns.memoryWaitingCount }
        // Without a context it waits neither for memory nor for the process.
        let isThere = await Task.detached { (try? good.firstFrame(context: nil)) != nil }.value
        #expect(isThere && pool.keepingIdentifiers.count == 2 && pool.turns.memoryWaitingCount == 1)
        context.cancel()
        #expect(await frame.value?.code == .cancelled)
        for (origin, memory) in zip(["a", "b"], reserved) { pool.turns.release(memory, origin: origin) }
    }

    @Test("F07 a wait for a process that another animation starts can be cancelled")
    func waitsForProcessesAreCancelled() async throws {
        let pool = Programs.pool(attack: "mute") {
            $0.idleLimit = 1
            $0.startTime = .seconds(1)
        }
        let bytes = try Samples.gif()
        let context = JobContext()
        @Sendable func open(_ context: JobContext) -> EideticError? {
            Programs.error { () throws(EideticError) in
                try SandboxedAnimation(
                    bytes,
                    isComplete: true,
                    options: .init(),
                    limits: .standard,
                    pool: pool,
                    context: context
                )?.info.frameCount
            }
        }
        let first = Task.detached { open(JobContext()) }
        try await eventually("number of starts", is: 1) { pool.keepingStartCount }
        let second = Task.detached { open(context) }
        context.cancel()
        #expect(await second.value?.code == .cancelled && pool.keepingStartCount == 1)
        #expect(await first.value?.code == .sandboxUnavailable)
    }
}
