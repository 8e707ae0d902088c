import EideticCodecs
import EideticCore
import EideticSandbox
import EideticTestSupport
import Glibc
import Testing

@Suite("decoding processes that are taken over", .timeLimit(.minutes(2)))
struct HostileProcessTests {
    private static let bytes: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

    private static var shortLimits: DecodeLimits {
        var limits = DecodeLimits()
        limits.duration = .milliseconds(300)
        return limits
    }

    private static func error(of pool: HelperPool, limits: DecodeLimits = DecodeLimits()) -> EideticError? {
        Programs.error { () throws(EideticError) in try pool.image(bytes, limits: limits) }
    }

    @Test(
        "F07 no file, socket, program, process, signal or new code can be had in the sandbox, also where it reads fonts",
        arguments: ["escapes", "fonts"]
    )
    func nothingEscapes(attack: String) throws {
        let error = try #require(Self.error(of: Programs.pool(attack: attack)))
        #expect(error.code == .corrupt && error.message.isEmpty, "allowed: \(error)")
    }

    @Test("F07 where the system denies namespaces, Landlock and seccomp, the rest is applied and reported")
    func whatIsLeftIsApplied() throws {
        let pool = Programs.pool(attack: "denied")
        let applied = try pool.description().restrictions
        #expect(applied == [.privileges, .resources])
        let names = HelperRestrictions.names.filter { applied.contains($0.restriction) }.map(\.name)
        #expect(names == ["no privileges", "resource limits"])
        let allowed = try #require(Self.error(of: pool)).message
        #expect(allowed.contains("open") && !allowed.contains("namespace") && !allowed.contains("mount"), "\(allowed)")
        let complete = try Programs.pool().description().restrictions
        #expect(complete.isSuperset(of: [.systemCalls, .privileges, .resources]))
    }

    @Test(
        "F07 a process that ends or crashes fails its own image, and the next one gets another process",
        arguments: ["exit", "crash", "garbage"]
    )
    func endsAreContained(attack: String) throws {
        let pool = Programs.pool(attack: attack)
        for count in 1...3 {
            #expect(Self.error(of: pool)?.code == .decoderFailed)
            #expect(pool.startedCount >= count)
        }
    }

    @Test("F07 a process that loops or sleeps is ended at the time limit", arguments: ["loop", "sleep"])
    func loopsEnd(attack: String) throws {
        let pool = Programs.pool(attack: attack)
        let error = Self.error(of: pool, limits: Self.shortLimits)
        #expect(error?.code == .limitExceeded && error?.message.contains("0.3 seconds") == true)
        #expect(pool.slowCount == 0)
    }

    @Test("F07 a process cannot allocate more than its limit")
    func memoryIsLimited() throws {
        let message = try #require(Self.error(of: Programs.pool(attack: "memory"))).message
        let mebibytes = try #require(Int(message))
        #expect((16...1_024).contains(mebibytes))
    }

    @Test(
        "F07 sizes, places and kinds that no image leads to are refused, and the process is ended",
        arguments: [
            "otherReply", "oversized", "negative", "manyFrames", "wrongSize", "wrongPart", "wrongDurations",
            "largeAtOnce",
        ]
    )
    func liesAreRefused(attack: String) throws {
        let pool = Programs.pool(attack: attack)
        let code = try #require(Self.error(of: pool)).code
        #expect(code == (attack == "negative" ? .outOfMemory : .decoderFailed))
        #expect(attack == "negative" || pool.idleIdentifiers.isEmpty)
    }

    @Test("F07 a process whose replies nobody asked for is replaced")
    func unbiddenRepliesAreRefused() throws {
        let pool = Programs.pool(attack: "unbidden") { $0.idleLimit = 1 }
        // One of them may come in time to be taken for the next reply; those behind it are found.
        repeat { #expect(Self.error(of: pool)?.code == .corrupt) } while pool.startedCount < 2
    }

    @Test("F07 pixels that a process keeps writable are not used", arguments: ["mapped", "open"], [true, false])
    func writablePixelsAreRefused(attack: String, reusesMemory: Bool) throws {
        // A descriptor of sealed memory does not matter.
        guard reusesMemory || attack == "mapped" else { return }
        let pool = Programs.pool(attack: attack) { $0.reusableLimit = reusesMemory ? 64 : 0 }
        let error = try #require(Self.error(of: pool))
        #expect(error.code == .decoderFailed && error.message.contains("writable"), "\(error)")
    }

    @Test("F07 pixels that were delivered are sealed: a process that goes on to write them is refused, or fails")
    func sealedPixelsDoNotChange() throws {
        let pool = Programs.pool(attack: "rewrites") { $0.idleLimit = 1 }
        for _ in 0..<5 {
            do throws(EideticError) {
                let image = try pool.image(Self.bytes), before = image.bytes
                // The process answers again only after it has tried.
                _ = try? pool.image(Self.bytes)
                #expect(image.bytes == before)
            } catch {
                #expect(error.code == .decoderFailed && error.message.contains("writable"), "\(error)")
            }
        }
    }

    @Test("F07 a process that writes into its shared memory later changes no image that was delivered")
    func deliveredPixelsDoNotChange() throws {
        let pool = Programs.pool(attack: "window") { $0.idleLimit = 1 }
        let image = try pool.image(Self.bytes)
        let before = image.bytes
        // The process answers again only after it has written.
        _ = try? pool.image(Self.bytes)
        #expect(image.bytes == before && before == [[UInt8](repeating: 7, count: 256)])
    }

    @Test("F07 without a program, and with one that is none, the error names the remedy")
    func missingProgramsAreReported() throws {
        var settings = HelperPool.Settings()
        settings.programs = { [] }
        let missing = try #require(Self.error(of: HelperPool(settings: settings)))
        #expect(missing.code == .sandboxUnavailable && missing.message.contains("eidetic-decode is not installed"))
        settings.programs = { [HelperProgram(path: "/bin/true")] }
        let other = try #require(Self.error(of: HelperPool(settings: settings)))
        #expect(other.code == .sandboxUnavailable && other.message.contains("/bin/true"), "\(other)")
    }

    @Test(
        "F07 beside a program of another version the error says which of the two is too old",
        arguments: [("older", ": it is too old"), ("newer", ": this program is too old")]
    )
    func otherVersionsAreReported(attack: String, fault: String) throws {
        let pool = Programs.pool(attack: attack)
        let error = try #require(Self.error(of: pool))
        #expect(error.code == .sandboxUnavailable && error.message.contains(fault), "\(error)")
        #expect(error.message.contains("EideticDecodeProbe") && pool.idleIdentifiers.isEmpty)
    }
}
