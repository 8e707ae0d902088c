import EideticBackground
import EideticCore
import EideticTestSupport
import Testing

@Suite("Memory pressure")
struct MemoryTests {
    @Test(
        "B07 the pressure follows the available fraction",
        arguments: [
            (1.0, MemoryPressure.normal), (0.15, .normal), (0.149, .warning), (0.08, .warning), (0.079, .urgent),
            (0.04, .urgent), (0.039, .critical), (0, .critical),
        ]
    )
    func levels(available: Double, level: MemoryPressure) {
        #expect(MemoryPressureRules.pressure(availableFraction: available) == level)
    }

    @Test("B07 memory is not polled in the foreground while much is available, otherwise 1 to 20 times per second")
    func intervals() {
        func interval(_ available: Double, pressure level: MemoryPressure = .normal, background: Bool = false)
            -> Duration?
        {
            MemoryPressureRules.pollInterval(availableFraction: available, pressure: level, isInBackground: background)
        }
        #expect(interval(0.3) == nil)
        #expect(interval(0.3, background: true) == .seconds(1))
        #expect(interval(0.3, pressure: .warning) == .seconds(1))
        #expect(interval(0.17) == .milliseconds(525))
        #expect(interval(0.02) == .milliseconds(50))
    }

    @Test("B07 the next reading is due before half of the remaining memory is lost")
    func pace() {
        func interval(_ available: Double, loss: Double) -> Duration? {
            MemoryPressureRules.pollInterval(
                availableFraction: available,
                pressure: .normal,
                isInBackground: true,
                lossPerSecond: loss
            )
        }
        #expect(interval(1, loss: 0.01) == .seconds(1))
        #expect(interval(0.5, loss: 0.46) == .milliseconds(500))
        #expect(interval(0.2, loss: 0.8) == .milliseconds(100))
        #expect(interval(0.2, loss: 100) == .milliseconds(50))
        #expect(interval(0.5, loss: -1) == .seconds(1))
    }

    @Test("B07 values are parsed from the kernel's files; a missing value is nil, and a large one does not trap")
    func values() {
        let text = "MemTotal:       100 kB\nMemAvailable:    25 kB\ninactive_file 4096\nHuge: 9223372036854775807 kB\n"
        #expect(MemoryPressureRules.value(named: "MemAvailable", in: text) == 25_600)
        #expect(MemoryPressureRules.value(named: "inactive_file", in: text) == 4_096)
        #expect(MemoryPressureRules.value(named: "MemFree", in: text) == nil)
        #expect(MemoryPressureRules.fraction(25_600, of: 102_400) == 0.25)
        #expect(MemoryPressureRules.fraction(5, of: 0) == 1)
        #expect(MemoryPressureRules.value(named: "Huge", in: text) != nil)
    }

    @Test("B07 the group with the smallest available fraction counts, with reclaimable caches available")
    func groups() throws {
        let directory = try TemporaryDirectory(named: "cgroup")
        try directory.write(Array("1000\n".utf8), to: "a/memory.max")
        try directory.write(Array("900\n".utf8), to: "a/memory.current")
        try directory.write(Array("anon 700\ninactive_file 200\n".utf8), to: "a/memory.stat")
        try directory.write(Array("max\n".utf8), to: "a/b/memory.max")
        let groups = MemoryControlGroup.all(
            in: "1:name=x:/z\n0::/a/b\n",
            mounts: (unified: [directory.path], memory: "/none")
        )
        #expect(groups.count == 3)
        let found = groups.compactMap { $0.availableFraction(files: FileSystem(), machineMemory: 10_000) }
        #expect(found == [0.3])
    }

    @Test("B07 the memory of this machine can be read")
    func thisMachine() throws {
        let text = String(decoding: try FileSystem().contents(of: "/proc/meminfo"), as: UTF8.self)
        #expect(MemoryPressureRules.value(named: "MemAvailable", in: text) ?? 0 > 0)
    }
}
