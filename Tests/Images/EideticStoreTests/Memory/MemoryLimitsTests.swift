import EideticCore
import EideticStore
import EideticTestSupport
import Testing

@Suite("Memory limits")
struct MemoryLimitsTests {
    /// Calls `body` with the path of a temporary directory that contains the kernel's `files`.
    private func withRoot<Value>(_ files: [String: String], body: (String) -> Value) throws -> Value {
        let directory = try TemporaryDirectory()
        let fileSystem = FileSystem()
        for (path, text) in files {
            let fullPath = directory.path + path
            let parent = fullPath.split(separator: "/").dropLast().joined(separator: "/")
            try fileSystem.makeDirectories("/" + parent)
            try fileSystem.replaceContents(of: fullPath, with: Array(text.utf8))
        }
        return body(directory.path)
    }

    private func usable(_ files: [String: String]) throws -> ByteCount {
        try withRoot(files) { MemoryLimits.usable(root: $0) }
    }

    @Test("C22 C02 what a control group leaves counts with caches that can be reclaimed", arguments: ["", "/unified"])
    func available(mount: String) throws {
        let group = "/sys/fs/cgroup\(mount)/app"
        let files = [
            "/proc/self/cgroup": "0::/app\n", "/proc/meminfo": "MemTotal: 9000000 kB\nMemAvailable: 8000000 kB\n",
            "\(group)/memory.max": "10485760\n", "\(group)/memory.current": "9437184\n",
            "\(group)/memory.stat": "anon 1\ninactive_file 5242880\n",
        ]
        #expect(try withRoot(files) { MemoryLimits.available(root: $0) } == .mebibytes(6))
        let machine = ["/proc/meminfo": "MemAvailable: 2048 kB\n"]
        #expect(try withRoot(machine) { MemoryLimits.available(root: $0) } == .mebibytes(2))
    }

    @Test("C01 the lowest version 2 limit up to the root applies")
    func readsVersion2() throws {
        let usable = try usable([
            "/proc/self/cgroup": "0::/user/app\n",
            "/sys/fs/cgroup/memory.max": "max\n",
            "/sys/fs/cgroup/user/memory.max": "1048576\n",
            "/sys/fs/cgroup/user/memory.current": "4096\n",
            "/sys/fs/cgroup/user/app/memory.max": "4194304\n",
            "/sys/fs/cgroup/user/app/memory.current": "4096\n",
        ])
        #expect(usable == .mebibytes(1))
    }

    @Test("C01 a version 1 limit applies")
    func readsVersion1() throws {
        let usable = try usable([
            "/proc/self/cgroup": "9:cpu:/x\n4:memory:/app\n0::/\n",
            "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
            "/sys/fs/cgroup/memory/app/memory.limit_in_bytes": "2097152\n",
            "/sys/fs/cgroup/memory/app/memory.usage_in_bytes": "4096\n",
        ])
        #expect(usable == .mebibytes(2))
    }

    @Test("C01 without control groups the machine's memory applies, and the default is 15 % of it, at most 512 MiB")
    func readsMachine() throws {
        let machine = try usable([:])
        #expect(machine > .mebibytes(64))
        #expect(MemoryLimits.standard == MemoryLimits.standard(usable: MemoryLimits.usable()))
        #expect(MemoryLimits.standard(usable: .mebibytes(3_400)) == .mebibytes(510))
        #expect(MemoryLimits.standard(usable: ByteCount(1_000)) == 150)
        #expect(MemoryLimits.standard(usable: .mebibytes(102_400)) == .mebibytes(512))
    }
}
