import EideticBackground
import EideticCore
import EideticTestSupport
import Glibc
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

    private func interval(available: Int, limit: Int, loss: Double = 0, isAnnounced: Bool = false) -> Duration {
        let share = MemoryShare(available: available << 20, limit: limit << 20, usage: (limit - available) << 20)
        return MemoryPressureRules.readingInterval(
            for: share,
            lossPerSecond: loss * Double(1 << 20),
            isAnnounced: isAnnounced
        )
    }

    @Test("B07 memory is read every 10 s if it lasts that long at 200 MiB/s, or the kernel announces the next level")
    func plenty() {
        // 15 % of 10,000 MiB are 1,500; 2,000 MiB last for 10 s.
        #expect(interval(available: 3_500, limit: 10_000) == .seconds(10))
        #expect(interval(available: 3_499, limit: 10_000) == .milliseconds(9_995))
        #expect(interval(available: 2_500, limit: 10_000) == .seconds(5))
        #expect(interval(available: 238, limit: 256) == .milliseconds(998))
        #expect(interval(available: 238, limit: 256, isAnnounced: true) == .seconds(10))
    }

    @Test("B07 under pressure memory is read before the next level, 1 to 20 times per second")
    func underPressure() {
        #expect(interval(available: 14_000, limit: 100_000) == .seconds(1))
        #expect(interval(available: 28, limit: 200) == .milliseconds(60))
        #expect(interval(available: 1, limit: 200) == .milliseconds(50))
        #expect(interval(available: 28, limit: 200, isAnnounced: true) == .seconds(1))
    }

    @Test("B07 twice the growth since the last reading is expected, if that is more")
    func pace() {
        #expect(interval(available: 3_500, limit: 10_000, loss: 100) == .seconds(10))
        #expect(interval(available: 3_500, limit: 10_000, loss: 200) == .seconds(5))
        #expect(interval(available: 3_500, limit: 10_000, loss: 1e9) == .milliseconds(50))
    }

    @Test("B07 a stall counts only if less than half of the memory is available")
    func stalls() {
        #expect(MemoryPressureRules.isStallOwn(availableFraction: 0.499))
        #expect(!MemoryPressureRules.isStallOwn(availableFraction: 0.5))
        #expect(!MemoryPressureRules.isStallOwn(availableFraction: 0.9))
    }

    @Test("B07 the distance is that to the next level, or to the end")
    func distance() {
        func distance(_ available: Int) -> Int { MemoryShare(available: available, limit: 1_000, usage: 0).distance }
        #expect([1_000, 150, 149, 80, 79, 40, 39, 0].map(distance) == [850, 0, 69, 0, 39, 0, 39, 0])
    }

    @Test("B07 an allocation that takes the amount is reported once, one that takes less is not")
    func meter() {
        let meter = AllocationMeter()
        let count = Guarded(0)
        meter.record(byteCount: 1 << 40)
        meter.notify(after: 100) { count.withLock { $0 += 1 } }
        meter.record(byteCount: 99)
        #expect(count.withLock { $0 } == 0)
        meter.record(byteCount: 1)
        #expect(count.withLock { $0 } == 1)
        meter.record(byteCount: 1_000)
        #expect(count.withLock { $0 } == 1)
        meter.notify(after: 100) { count.withLock { $0 += 1 } }
        meter.record(byteCount: 101)
        #expect(count.withLock { $0 } == 2)
    }

    @Test("B07 pixel memory is counted, and a quarter of the distance to a warning causes a reading")
    func ownAllocations() throws {
        let directory = try TemporaryDirectory(named: "meter")
        try directory.write(Array("\(1_000 << 20)\n".utf8), to: "a/memory.max")
        try directory.write(Array("\(50 << 20)\n".utf8), to: "a/memory.current")
        let groups = MemoryControlGroup.all(in: "0::/a\n", mounts: (unified: [directory.path], memory: "/none"))
        let meter = AllocationMeter()
        let count = Guarded(0)
        let monitor = MemoryMonitor(groups: groups, meter: meter) { count.withLock { $0 += 1 } }
        #expect(monitor.read(at: .seconds(1)).level == .normal)
        // 800 MiB before the warning.
        meter.record(byteCount: 200 << 20 - 1)
        #expect(count.withLock { $0 } == 0)
        meter.record(byteCount: 1)
        #expect(count.withLock { $0 } == 1)
        try directory.write(Array("\(900 << 20)\n".utf8), to: "a/memory.current")
        #expect(!monitor.read(at: .seconds(1.1)).isCurrent)
        #expect(monitor.read(at: .seconds(1.1), isRequested: true).level == .warning)
    }

    @Test("B07 values are parsed from the kernel's files; a missing value is nil, and a large one does not trap")
    func values() {
        let text = "MemTotal:       100 kB\nMemAvailable:    25 kB\ninactive_file 4096\nHuge: 9223372036854775807 kB\n"
        #expect(MemoryPressureRules.value(named: "MemAvailable", in: text) == 25_600)
        #expect(MemoryPressureRules.value(named: "inactive_file", in: text) == 4_096)
        #expect(MemoryPressureRules.value(named: "MemFree", in: text) == nil)
        #expect(MemoryShare(available: 25_600, limit: 102_400, usage: 0).availableFraction == 0.25)
        #expect(MemoryShare(available: 5, limit: 0, usage: 0).availableFraction == 1)
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
        let found = groups.compactMap { $0.share(files: FileSystem(), machineMemory: 10_000)?.availableFraction }
        #expect(found == [0.3])
    }

    @Test(
        "B07 a process at its limit of threads ends its notifications without one",
        .enabled(
            if: access(MemoryPressureTriggers.machineStallFile, W_OK) == 0,
            "skipped: no stalls are announced here"
        )
    )
    func threadLimit() async {
        await #expect(processExitsWith: .success) {
            let monitor = MemoryMonitor(groups: []) {}
            try #require(!monitor.pollDescriptors(at: .zero).isEmpty)
            // The limit does not bind root.
            if getuid() == 0 { try #require(setuid(65_534) == 0) }
            var limit = rlimit(rlim_cur: 0, rlim_max: 0)
            try #require(setrlimit(__rlimit_resource_t(__RLIMIT_NPROC.rawValue), &limit) == 0)
            try #require(!Thread.startIfPossible(name: "none") {})
            monitor.stop()
            #expect(monitor.pollDescriptors(at: .zero).isEmpty)
        }
    }

    @Test("B07 a monitor without the machine has no trigger of its stalls, and triggers are closed in the end")
    func closesTriggers() throws {
        #expect(MemoryMonitor(groups: [], watchesMachine: false) {}.pollDescriptors(at: .zero).isEmpty)
        let directory = try TemporaryDirectory(named: "stalls")
        try directory.write([], to: "memory.pressure")
        let path = directory.path(of: "memory.pressure")
        let watch = inotify_init1(Int32(IN_CLOEXEC))
        defer { close(watch) }
        try #require(inotify_add_watch(watch, path, UInt32(IN_CLOSE_WRITE)) >= 0)
        var triggers: MemoryPressureTriggers? = MemoryPressureTriggers(eventFiles: [], stallFiles: [path])
        try #require(triggers?.count == 3)
        triggers = nil
        func isOpen() throws -> Bool {
            try FileSystem().entryNames(in: "/proc/self/fd").contains {
                (try? FileSystem().linkTarget(of: "/proc/self/fd/\($0)")) == path
            }
        }
        while try isOpen() {
            var polled = pollfd(fd: watch, events: Int16(POLLIN), revents: 0)
            try #require(poll(&polled, 1, 60_000) == 1, "the triggers are not closed")
            var events = [UInt8](repeating: 0, count: 4_096)
            _ = read(watch, &events, events.count)
        }
    }

    @Test("B07 the memory of this machine can be read")
    func thisMachine() throws {
        let text = String(decoding: try FileSystem().contents(of: "/proc/meminfo"), as: UTF8.self)
        #expect(MemoryPressureRules.value(named: "MemAvailable", in: text) ?? 0 > 0)
    }
}
