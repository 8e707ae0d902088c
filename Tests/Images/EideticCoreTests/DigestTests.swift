import EideticCore
import EideticTestSupport
import Glibc
import Testing

@Suite("Digests")
struct DigestTests {
    @Test(
        "C18 SHA-256 returns the digests of FIPS 180-4",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
        ]
    )
    func sha256(_ text: String, digest: String) {
        #expect(Digest(sha256: Array(text.utf8)).hexadecimal == digest)
    }

    @Test(
        "C18 HMAC-SHA-256 returns the values of RFC 4231",
        arguments: [
            (
                [UInt8](repeating: 0x0b, count: 20), "Hi There",
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                Array("Jefe".utf8), "what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (
                [UInt8](repeating: 0xaa, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ),
        ]
    )
    func hmac(_ key: [UInt8], message: String, digest: String) {
        #expect(Digest(hmacSHA256: Array(message.utf8), key: key).hexadecimal == digest)
    }
}

@Suite("Keys of directories")
struct DirectoryKeyTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory(named: "key") }

    private func makeKey() -> DirectoryKey { DirectoryKey(directory: directory.path, files: FileSystem()) }

    @Test("C18 a key is created once, with mode 0600, and is the same for all who use the directory")
    func shared() async throws {
        let pool = WorkPool(name: "keys", maximumThreadCount: 8)
        let keys = (0..<32).map { _ in makeKey() }
        let bytes = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for key in keys {
                group.addTask {
                    try await pool.run { _ throws(EideticError) in
                        do throws(SystemError) { return try key.forWriting() } catch { throw EideticError(error) }
                    }
                }
            }
            return try await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
        }
        #expect(bytes.count == 1)
        #expect(bytes.first == (try directory.contents(of: "key")))
        #expect(bytes.first?.count == 32)
        #expect(try FileSystem().status(of: directory.path(of: "key")).permissions == 0o600)
        #expect(try FileSystem().entryNames(in: directory.path) == ["key"])
    }

    @Test("C18 reading creates no key, and finds nothing without one")
    func reading() throws {
        let key = makeKey()
        #expect(key.forReading() != makeKey().forReading())
        #expect(try FileSystem().entryNames(in: directory.path) == [])
        let created = try makeKey().forWriting()
        #expect(key.forReading() == created)
    }

    @Test("C18 a key that others may read, has another length or is a link is replaced", arguments: [0, 1, 2, 3])
    func replaced(_ kind: Int) throws {
        let path = directory.path(of: "key"), files = FileSystem()
        let original: [UInt8]
        switch kind {
        case 0: original = Array(repeating: 7, count: 31)
        case 1: original = Array(repeating: 7, count: 33)
        default: original = Array(repeating: 7, count: 32)
        }
        try directory.write(original, to: kind == 3 ? "other" : "key")
        if kind == 3 { symlink(directory.path(of: "other"), path) }
        chmod(path, kind == 2 ? 0o640 : 0o600)
        let key = try makeKey().forWriting()
        #expect(key != original)
        #expect(try directory.contents(of: "key") == key)
        #expect(try files.linkStatus(of: path).kind == .regular)
        #expect(try makeKey().forWriting() == key)
    }

    @Test(
        "C18 a key that cannot be written is an error, and leaves nothing behind",
        arguments: [SystemCall.open, .write]
    )
    func faults(_ call: SystemCall) throws {
        let plan = FaultPlan()
        let key = DirectoryKey(directory: directory.path, files: FileSystem(observer: plan))
        plan.fail(call, with: ENOSPC, at: call == .open ? 2 : 1)
        #expect(throws: SystemError.self) { try key.forWriting() }
        #expect(try FileSystem().entryNames(in: directory.path) == [])
        #expect(try key.forWriting().count == 32)
    }
}
